package core

import (
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// FillInterfaces checks the driver and the interfaces named, and gives the
// others their default.
func (e *Core) FillInterfaces(n *node.Node) error {
	if _, ok := e.BMCs[n.Driver]; !ok {
		return node.Refuse(node.Invalid,
			"No valid host was found. Reason: No conductor service registered which supports driver %s (enabled: %s).", n.Driver,
			e.driverNames())
	}
	hw, ok := e.hardwareType(n.Driver)
	if !ok {
		return node.Refuse(node.Invalid, "hardware type %s is unknown", n.Driver)
	}
	n.Interfaces = maps.Clone(n.Interfaces)
	if n.Interfaces == nil {
		n.Interfaces = map[string]string{}
	}
	for kind, name := range n.Interfaces {
		if name != "" && !hw.Supports(kind, name) {
			return node.Refuse(node.Invalid,
				"Could not find the following interface in the 'ironic.hardware.interfaces.%s' entrypoint: %s. Valid "+
					"interfaces are %v.", kind, name, hw.Interfaces[kind])
		}
	}
	for kind := range hw.Interfaces {
		if n.Interfaces[kind] == "" {
			n.Interfaces[kind] = hw.Default(kind)
		}
	}
	return nil
}

// hardwareType is a hardware type with the defaults that the operator has chosen.
func (e *Core) hardwareType(name string) (node.HardwareType, bool) {
	hw, ok := node.HardwareTypeByName(name)
	if !e.Settings.Neutron && name != "fake-hardware" {
		hw = hw.Without("network", "neutron")
	}
	return hw.WithDefaults(e.Settings.DefaultInterfaces), ok
}

// settled are the states in which nothing depends on the node's interfaces, on the resource class that schedulers know,
// or on the instance. In these states Ironic's conductor lets them change; the order is Ironic's.
var settled = []string{
	string(node.Enroll), string(node.Inspecting), string(node.InspectWait), string(node.Manageable),
	string(node.Available),
}

// checkSettled refuses to change the interfaces of a node that is in use, unless it is in maintenance or the same edit
// puts it there. It also refuses to change the resource class, unless it had none. An edit of the driver that leaves an
// interface empty resets it to the default, which Ironic allows in every state.
func checkSettled(old, n node.Node) error {
	if n.Driver != old.Driver && old.ConsoleEnabled {
		return node.Refuse(node.Conflict,
			"Node %s can not update the driver while the console is enabled. Please stop the console first.", n.UUID)
	}
	if slices.Contains(settled, string(old.ProvisionState)) {
		return nil
	}
	for _, kind := range slices.Sorted(maps.Keys(old.Interfaces)) {
		name := n.Interfaces[kind]
		if name == old.Interfaces[kind] || n.Maintenance || name == "" && n.Driver != old.Driver {
			continue
		}
		return node.Refuse(node.Conflict,
			"Node %s can not have %s_interface updated unless it is in one of allowed (%s) states or in maintenance mode.",
			n.UUID, kind, strings.Join(settled, ", "))
	}
	if old.ResourceClass != "" && n.ResourceClass != old.ResourceClass {
		return node.Refuse(node.Conflict,
			"Node %s can not have resource_class updated unless it is in one of allowed (%s) states.", n.UUID,
			strings.Join(settled, ", "))
	}
	return nil
}
