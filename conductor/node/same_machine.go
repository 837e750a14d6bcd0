package node

import (
	"cmp"
	"net"
	"net/url"
	"strings"
)

// Machine is the machine that a node's driver_info names: a system behind a BMC. Two nodes with one machine would each
// clean and switch it without knowing of the other.
type Machine struct {
	Driver   string // "redfish" or "ipmi"
	Endpoint string // host:port of the BMC, each host written in one way; a path where it is not Redfish's own
	System   string // of several behind the BMC; "" for the only one
}

// Machine returns the machine that the settings of the node's own driver name. It returns false for a node without an
// address, such as fake hardware.
func (n *Node) Machine() (Machine, bool) {
	switch driver := BaseType(n.Driver); driver {
	case "redfish":
		endpoint := redfishEndpoint(n.bmcText("redfish_address"))
		return Machine{driver, endpoint, strings.Trim(n.bmcText("redfish_system_id"), "/")}, endpoint != ""
	case "ipmi":
		host := PlainHost(strings.Trim(n.bmcText("ipmi_address"), "[]"))
		return Machine{driver, net.JoinHostPort(host, cmp.Or(n.bmcText("ipmi_port"), "623")), ""}, host != ""
	default:
		return Machine{}, false
	}
}

// redfishEndpoint is host:port of redfish_address, with https as the default scheme; "" for no address. A path other
// than /redfish/v1 is part of it: one server may serve several BMCs.
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

// Same reports whether both are one machine. A node that names no system means the only system of its BMC.
func (m Machine) Same(o Machine) bool {
	return m.Driver == o.Driver && m.Endpoint == o.Endpoint && (m.System == o.System || m.System == "" || o.System == "")
}

// Key is the machine in one line. Its driver and endpoint come first and hold no space, so that the keys of all systems
// behind one BMC have a common beginning: see KeyOfBMC.
func (m Machine) Key() string { return m.KeyOfBMC() + m.System }

// KeyOfBMC is how the keys of all machines behind the same BMC begin. It is also the key of the only machine there.
func (m Machine) KeyOfBMC() string {
	return m.Driver + " " + strings.ReplaceAll(m.Endpoint, " ", "%20") + " "
}

// HeldMachine returns the machine that no other node may hold, as the node's settings name it. It returns false if they
// name none, if the node shares its machine, and for a child: the BMC of its parent may serve it, too.
func (n *Node) HeldMachine() (Machine, bool) {
	if n.SharesMachine || n.ParentNode != "" {
		return Machine{}, false
	}
	return n.Machine()
}

// MachineKey is the key of HeldMachine; "" for none.
func (n *Node) MachineKey() string {
	m, ok := n.HeldMachine()
	if !ok {
		return ""
	}
	return m.Key()
}

// Related reports whether one of two nodes is a child of the other, such as a network card with a computer of its own:
// it may be reached by its parent's BMC.
func Related(a, b *Node) bool {
	child := func(a, b *Node) bool {
		return a.ParentNode != "" && (a.ParentNode == b.UUID || a.ParentNode == b.Name)
	}
	return child(a, b) || child(b, a)
}

// MachineTakenError refuses to store a node with the machine of another. Its text does not name the other node, which
// not every caller may see.
type MachineTakenError struct {
	Machine Machine
	Other   string // UUID of the node that holds it
}

func (e *MachineTakenError) Error() string { return e.Refusal("another node").Error() }

// Unwrap is a Refusal of the kind Conflict.
func (e *MachineTakenError) Unwrap() error { return e.Refusal("another node") }

// Refusal is the refusal with a name for the other node.
func (e *MachineTakenError) Refusal(other string) error {
	system := ""
	if e.Machine.System != "" {
		system = " and system /" + e.Machine.System
	}
	return Refuse(Conflict,
		"The BMC %s%s is that of %s already: correct the address or the system, or use that node. For "+
			"two nodes of one machine, send the header X-Ferrite-Force: true (ferrite: --force).", e.Machine.Endpoint, system,
		other)
}
