package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// attachNetwork puts the machine's ports into one network and out of all others (network interface neutron). It is done
// while the machine is off, or its old owner could reach the next network: Ironic does the same.
const attachNetwork = "network.attach"

// The networks of a machine that are not one of its ramdisk's.
const (
	TenantNetwork = "tenant" // the VIFs that are attached to the node
	NoNetwork     = "none"
)

// ramdiskNetworks are the networks of the ramdisk by activity. Ironic has their names in a port's internal_info and in
// a node's driver_info.
var ramdiskNetworks = map[string]string{"deploy": "provisioning", "clean": "cleaning", "rescue": "rescuing",
	"inspect": inspectionNetwork, "service": "servicing"}

const inspectionNetwork = "inspection"

// RamdiskNetworks are the networks of ramdisks, in the order of the alphabet.
func RamdiskNetworks() []string { return slices.Sorted(maps.Values(ramdiskNetworks)) }

// Neutron reports whether OpenStack's Neutron has the switches forward what the node's ports are in.
func Neutron(n node.Node) bool { return n.Interfaces["network"] == "neutron" }

// NetworkArgs are the arguments of network.attach.
type NetworkArgs struct {
	Network string `json:"network"` // one of RamdiskNetworks, TenantNetwork or NoNetwork
}

// Attached is the result of network.attach: the Neutron ports of the ramdisk by the UUIDs of the node's ports.
type Attached struct {
	Network string            `json:"network"`
	Ports   map[string]string `json:"ports,omitempty"`
	Doubts  []string          `json:"doubts,omitempty"` // warnings for the history
}

// attachTo is the step that changes the network, where the node has such networks.
func attachTo(d *decision, network string) []node.Step {
	if !Neutron(d.n) {
		return nil
	}
	return []node.Step{step("network", "attach", map[string]any{"network": network})}
}

// attachToRamdisk is attachTo for the ramdisk of the activity under way. An inspection without a network of its own
// leaves the switches as they are: it may be what finds out where the machine is plugged in.
func attachToRamdisk(d *decision) []node.Step {
	if !Neutron(d.n) {
		return nil
	}
	network := ramdiskNetworks[d.n.Run.Activity]
	if network == "" || network == inspectionNetwork && !d.f.Settings.InspectionNetwork {
		return nil
	}
	return attachTo(d, network)
}

// networkAttached notes which Neutron ports are the ramdisk's, under Ironic's names.
func networkAttached(d *decision, result json.RawMessage) error {
	var a Attached
	if err := read(result, &a); err != nil {
		return err
	}
	d.noteRamdiskPorts(a)
	for _, doubt := range a.Doubts {
		d.note("WARNING", Clip(doubt))
	}
	d.next()
	return nil
}

func (d *decision) noteRamdiskPorts(a Attached) {
	for _, p := range d.f.Ports {
		info := maps.Clone(p.InternalInfo)
		if info == nil {
			info = map[string]any{}
		}
		for _, network := range ramdiskNetworks {
			delete(info, network+"_vif_port_id")
		}
		if vif := a.Ports[p.UUID]; vif != "" {
			info[a.Network+"_vif_port_id"] = vif
		}
		if !maps.Equal(info, p.InternalInfo) {
			p.InternalInfo = info
			d.rewire(p)
		}
	}
}

// rewire saves a port with the node, and has what follows see it so.
func (d *decision) rewire(p node.Port) {
	at := d.now
	p.UpdatedAt = &at
	same := func(other node.Port) bool { return other.UUID == p.UUID }
	d.f.Ports = slices.Clone(d.f.Ports)
	if i := slices.IndexFunc(d.f.Ports, same); i >= 0 {
		d.f.Ports[i] = p
	}
	d.rewired.ports = append(slices.DeleteFunc(d.rewired.ports, same), p)
}

// CheckNetwork refuses a verb that leads into a network which this conductor cannot attach, or of which no switch could
// be told.
func CheckNetwork(n node.Node, ports []node.Port, s Settings, verb node.Event) error {
	managed := intoRamdisk[verb] && (verb != node.Inspect || s.InspectionNetwork)
	switch {
	case !Neutron(n) || !managed:
		return nil
	case !s.Neutron:
		return node.Refuse(node.Invalid,
			"node %s has network interface neutron, and this conductor knows no Neutron: start it with "+
				"--neutron-networks, or set another network_interface", n.UUID)
	case !slices.ContainsFunc(ports, func(p node.Port) bool { return p.PXEEnabled && p.Wired() }):
		return node.Refuse(node.Invalid,
			"node %s has network interface neutron, and no port with pxe_enabled and local_link_connection: inspect the "+
				"node where its switches send LLDP, or set it (ferrite port set PORT --local-link-connection port_id=NAME "+
				"--local-link-connection switch_id=MAC)", n.UUID)
	}
	return nil
}

// leaveNetwork is the chore that takes the machine of a service that was given up out of the ramdisk's network, and
// restarts it in its owner's.
type leaveNetwork struct{ powerChange }

// restoreNetwork is its effect.
const restoreNetwork = "network.restore"

func (leaveNetwork) effect() string { return restoreNetwork }

func (l leaveNetwork) done(d *decision) {
	d.noteRamdiskPorts(Attached{})
	l.powerChange.done(d)
}
