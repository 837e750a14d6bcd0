package node

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Machine is the one machine that a node's driver_info names: a system behind a BMC. Two nodes of one machine would
// clean and switch it without knowing of each other.
type Machine struct {
	Driver   string // "redfish" or "ipmi"
	Endpoint string // host:port of the BMC, each host written in one way; a path where it is not Redfish's own
	System   string // of several behind the BMC; "" for the only one
}

// Machine is the machine that the settings of the node's own driver name; false for a node without an address, as
// those of fake hardware.
func (n *Node) Machine() (Machine, bool) {
	said := func(key string) string {
		if v, ok := n.DriverInfo[key]; ok && v != nil {
			return strings.TrimSpace(fmt.Sprint(v))
		}
		return ""
	}
	switch n.Driver {
	case "redfish":
		endpoint := redfishEndpoint(said("redfish_address"))
		return Machine{n.Driver, endpoint, strings.Trim(said("redfish_system_id"), "/")}, endpoint != ""
	case "ipmi":
		host := PlainHost(strings.Trim(said("ipmi_address"), "[]"))
		return Machine{n.Driver, net.JoinHostPort(host, cmp.Or(said("ipmi_port"), "623")), ""}, host != ""
	default:
		return Machine{}, false
	}
}

// redfishEndpoint is host:port of redfish_address, which is https where it names no scheme; "" for no address. A path
// other than /redfish/v1 is part of it: one server may speak for several BMCs.
func redfishEndpoint(address string) string {
	if address == "" {
		return ""
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	endpoint := net.JoinHostPort(PlainHost(u.Hostname()), cmp.Or(u.Port(), port))
	if path := strings.Trim(u.Path, "/"); path != "" && path != "redfish/v1" {
		endpoint += "/" + path
	}
	return endpoint
}

// Same reports whether both are one machine. A node that names no system means the only one of its BMC.
func (m Machine) Same(o Machine) bool {
	return m.Driver == o.Driver && m.Endpoint == o.Endpoint && (m.System == o.System || m.System == "" || o.System == "")
}
