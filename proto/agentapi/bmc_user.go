package agentapi

import (
	"errors"
	"fmt"
	"net/netip"
)

// BMCUserSuffix is the path below AgentsPath and the node's UUID to which an agent hands a BMC user.
const BMCUserSuffix = "/bmc_user"

// BMCUserRequest asks an agent to make a user of its machine's BMC, and to hand it in as BMCUser.
// It is part of the answer to the inspection data of an unknown machine. Ironic's agent looks past it.
type BMCUserRequest struct {
	Name  string `json:"name"`
	Token string `json:"token"` // proves that the user comes from the agent that was asked
}

// BMCUser is the body of POST /ferrite/v1/agents/{uuid}/bmc_user; the answer is 202. It holds either a
// user of the BMC at an address, or the reason why there is none.
type BMCUser struct {
	Token    string `json:"token"`
	Name     string `json:"name,omitempty"`
	Password string `json:"password,omitempty"`
	Address  string `json:"address,omitempty"` // of the BMC: IPv4 or IPv6
	Error    string `json:"error,omitempty"`
}

// Limits of IPMI 2.0 on names (22.28) and passwords (22.30), and ours on the rest.
const (
	MaxBMCName     = 16
	MaxBMCPassword = 20
	minBMCPassword = 8
	maxBMCToken    = 128
)

// String leaves out password and token, so that no log has them.
func (u BMCUser) String() string {
	if u.Error != "" {
		return "no BMC user: " + u.Error
	}
	return fmt.Sprintf("BMC user %q at %s", u.Name, u.Address)
}

// GoString is String: %#v shows no password either.
func (u BMCUser) GoString() string { return u.String() }

// Validate refuses a user that no BMC accepts. Its errors do not contain the password.
func (u BMCUser) Validate() error {
	if u.Token == "" || len(u.Token) > maxBMCToken {
		return fmt.Errorf("BMC user: the token has %d characters, expected 1 to %d", len(u.Token), maxBMCToken)
	}
	if u.Error != "" {
		if u.Name != "" || u.Password != "" || u.Address != "" {
			return errors.New("BMC user: an error and a user exclude each other")
		}
		if len(u.Error) > maxText || !visible(u.Error) {
			return fmt.Errorf("BMC user: the error is no line of at most %d ASCII characters", maxText)
		}
		return nil
	}
	if u.Name == "" || len(u.Name) > MaxBMCName || !visible(u.Name) {
		return fmt.Errorf("BMC user: the name %q is not 1 to %d ASCII characters", u.Name, MaxBMCName)
	}
	if len(u.Password) < minBMCPassword || len(u.Password) > MaxBMCPassword || !visible(u.Password) {
		return fmt.Errorf("BMC user: the password is not %d to %d ASCII characters", minBMCPassword, MaxBMCPassword)
	}
	if a, err := netip.ParseAddr(u.Address); err != nil || a.Zone() != "" {
		return fmt.Errorf("BMC user: the address %q is not an IP address without a zone", u.Address)
	}
	return nil
}

// visible reports whether a text is ASCII without control characters.
func visible(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// BMCUserError cuts the text of an error to the characters and the length that BMCUser takes.
func BMCUserError(err error) string {
	text := []byte(err.Error())
	for i, c := range text {
		if c < ' ' || c > '~' {
			text[i] = '?'
		}
	}
	return string(text[:min(len(text), maxText)])
}
