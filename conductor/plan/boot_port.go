package plan

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// readPorts asks the BMC which network interfaces the machine has.
const readPorts = "inspect.read_ports"

// findPorts returns the first steps of an inspection in band if the node has no ports and needs one: see checkBootPort.
// It trusts the BMC to read the ports of its own machine. It does not trust a ramdisk, which may run on any machine.
func (d *decision) findPorts() []node.Step {
	if d.f.Words && len(d.f.Ports) == 0 {
		return []node.Step{step("inspect", "read_ports", nil)}
	}
	return nil
}

// portsKnown makes ports of the interfaces that the BMC has reported.
func portsKnown(d *decision, s node.System) error {
	if err := d.knowSystem(s.UUID); err != nil {
		return err
	}
	d.addPorts(agentapi.Inspection{Inventory: agentapi.Inventory{Interfaces: linked(cardsOf(s))}}, LinkedPorts)
	if len(d.allPorts()) == 0 {
		return fmt.Errorf("%w; its BMC reports no network interface that could be made a port", d.withoutPorts())
	}
	if n := len(d.ports); n > 0 {
		d.note("INFO", fmt.Sprintf("the BMC reports %d network interfaces, which become ports", n))
	}
	return nil
}

// checkBootPort refuses a run that would wait for ever: the one-time token of its boot script proves a ramdisk's node,
// and scripts are for ports' MAC addresses.
func (d *decision) checkBootPort() error {
	if !d.f.Words || len(d.f.Ports) > 0 || !WantsRamdisk(d.n) ||
		slices.ContainsFunc(d.n.Run.Steps, func(s node.Step) bool { return s.String() == readPorts }) {
		return nil
	}
	return d.withoutPorts()
}

func (d *decision) withoutPorts() error {
	return fmt.Errorf("node %s has no ports, and machines are booted by the MAC address of one: create it (baremetal "+
		"port create --node %s ADDRESS)", d.n.UUID, d.n.UUID)
}
