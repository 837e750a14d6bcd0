package translate

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// SameMachine reports whether a node is configured with a host's BMC, and with the same machine behind it. A node that
// names none of several machines matches the only one.
func SameMachine(h hostapi.Host, n node.Node) bool {
	a, err := AccessOf(h.Spec.BMC)
	if err != nil || n.Driver != a.hardwareType {
		return false
	}
	prefix := strings.TrimSuffix(a.user, "username")
	said := func(key string) string {
		if v, ok := n.DriverInfo[prefix+key]; ok && v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	address, port := said("address"), said("port")
	switch {
	case strings.Contains(address, "://"):
	case port != "" || net.ParseIP(address) != nil:
		address = "https://" + net.JoinHostPort(address, cmp.Or(port, a.port("https")))
	default:
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || endpoint(u, a.port(u.Scheme)) != a.endpoint {
		return false
	}
	system := strings.Trim(said("system_id"), "/")
	return system == a.system || system == "" || a.system == ""
}
