package plan

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// BMCUserName is the name of the users that agents make. No person would choose it: an agent gives a user of this
// name a new password.
const BMCUserName = "ferrite-inband"

// Where driver_internal_info has the SHA-256 of the token with which an agent was asked for a BMC user, and why it made
// none. The first is no secret, but its name has it masked.
const (
	bmcUserToken = "bmc_user_token_sha256"
	bmcUserError = "bmc_user_error"
)

// WantsBMCUser reports whether a node has no credentials for its BMC.
func WantsBMCUser(n node.Node) bool {
	for key := range n.DriverInfo {
		if strings.HasSuffix(key, "_username") || strings.HasSuffix(key, "_password") {
			return false
		}
	}
	return true
}

// AskedForBMCUser notes that the agent of a node was asked for a BMC user, with a token of this SHA-256 in hexadecimal.
func AskedForBMCUser(n node.Node, sum string) node.Node {
	n = n.Clone()
	if n.DriverInternalInfo == nil {
		n.DriverInternalInfo = map[string]any{}
	}
	n.DriverInternalInfo[bmcUserToken] = sum
	return n
}

// BMCUserToken is the SHA-256 of the token of the last request; "" for none.
func BMCUserToken(n node.Node) string { return text(n.DriverInternalInfo, bmcUserToken) }

// HasBMCUser reports whether a node has this very user: the agent calls again when an answer was lost.
func HasBMCUser(n node.Node, u agentapi.BMCUser) bool {
	name, password := credentialKeys(n.Driver)
	return u.Error == "" && n.DriverInfo[name] == u.Name && n.DriverInfo[password] == u.Password
}

// BMCUserMade gives a discovered node the user that its agent has made, and the address of the BMC, in the words of
// the node's driver.
func BMCUserMade(n node.Node, f Facts, u agentapi.BMCUser, at netip.Addr, now time.Time) *node.Change {
	d := &decision{n: n.Clone(), f: f, now: now}
	info := map[string]any{}
	maps.Copy(info, n.DriverInfo)
	key, value, ok := node.BMCSetting(n.Driver, at)
	if !ok {
		return BMCUserMissing(n, f, fmt.Sprintf("BMCs of driver %s have no users", n.Driver), now)
	}
	name, password := credentialKeys(n.Driver)
	info[key], info[name], info[password] = value, u.Name, u.Password
	d.n.DriverInfo = info
	delete(d.n.DriverInternalInfo, bmcUserError)
	d.note("INFO", fmt.Sprintf("user %s made at BMC %s by the machine's agent (--bmc-credentials generate); driver %s",
		u.Name, at, n.Driver))
	return &node.Change{Save: &d.n, History: d.history}
}

// BMCUserMissing notes why a discovered node has no user of its BMC. It consumes the token, so that each request adds
// at most one line to the history. It adds none if the reason is noted already.
func BMCUserMissing(n node.Node, f Facts, why string, now time.Time) *node.Change {
	d := &decision{n: n.Clone(), f: f, now: now}
	if d.n.DriverInternalInfo == nil {
		d.n.DriverInternalInfo = map[string]any{}
	}
	delete(d.n.DriverInternalInfo, bmcUserToken)
	if text(n.DriverInternalInfo, bmcUserError) != why {
		d.n.DriverInternalInfo[bmcUserError] = why
		d.note("WARNING", "no BMC user made: "+why)
	}
	return &node.Change{Save: &d.n, History: d.history}
}

// credentialKeys are the keys of driver_info with the user and the password.
func credentialKeys(driver string) (name, password string) {
	base := node.BaseType(driver)
	return base + "_username", base + "_password"
}
