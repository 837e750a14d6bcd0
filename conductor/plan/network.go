package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// attachNetwork puts the machine's ports into one network and out of all others (network interface neutron). It is done
// while the machine is off, because otherwise its old owner could reach the next network. Ironic does the same.
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

// Neutron reports whether the node has network interface neutron: OpenStack's Neutron configures on the switches the
// network of each port.
func Neutron(n node.Node) bool { return n.Interfaces["network"] == "neutron" }

// Flat reports whether the node has network interface flat: its VIFs are bound to its machine, for Neutron to serve the
// address, and the switches stay as they are. Without a Neutron the VIFs are kept on record alone.
func Flat(n node.Node) bool { return n.Interfaces["network"] == "flat" }

// NetworkArgs are the arguments of network.attach.
type NetworkArgs struct {
	Network string `json:"network"` // one of RamdiskNetworks, TenantNetwork or NoNetwork
}

// Attached is the result of network.attach: the Neutron ports of the ramdisk by the UUIDs of the node's ports.
type Attached struct {
	Network string            `json:"network"`
	Ports   map[string]string `json:"ports,omitempty"`
	// Warnings are for the history
	Warnings []string `json:"warnings,omitempty"`
}

// attachTo is the step that changes the network, where the node has such networks.
func attachTo(d *decision, network string) []node.Step {
	if !Neutron(d.n) {
		return nil
	}
	return []node.Step{step("network", "attach", map[string]any{"network": network})}
}

// bindFlat is the step that binds the VIFs of a node with network interface flat to its machine, or to none. Neutron
// then serves the machine's address. As in Ironic they are bound from the deploy on, ramdisk included.
func bindFlat(d *decision, network string) []node.Step {
	if !Flat(d.n) || !d.f.Settings.Neutron {
		return nil
	}
	return []node.Step{step("network", "attach", map[string]any{"network": network})}
}

// attachToRamdisk is attachTo for the ramdisk of the activity under way. An inspection without a network of its own
// leaves the switches as they are: it may be the first to find the switch ports of the machine.
func attachToRamdisk(d *decision) []node.Step {
	if !Neutron(d.n) {
		return nil
	}
	network := ramdiskNetworks[d.n.Run.Activity]
	if network == "" || network == inspectionNetwork && !inspectionNetworked(d.n, d.f.Settings) {
		return nil
	}
	return attachTo(d, network)
}

// networkAttached notes which Neutron ports are the ramdisk's, under Ironic's names.
func networkAttached(d *decision, a Attached) error {
	if Neutron(d.n) { // flat leaves the ports of ramdisks as they are
		d.noteRamdiskPorts(a)
	}
	for _, warning := range a.Warnings {
		d.note("WARNING", Clip(warning))
	}
	return nil
}

// ramdiskPort is the key under which a port notes the Neutron port of a ramdisk in a network of a kind. It is Ironic's.
func ramdiskPort(kind string) string { return kind + "_vif_port_id" }

// entersNetwork notes, before the request to Neutron, that the machine's ports may be in the network of a ramdisk. A
// change of network that fails half-way, or outlives its run, may have made ports, too. "" stands for a Neutron port
// that is not known yet.
func (d *decision) entersNetwork(s node.Step) {
	kind, _ := s.Args["network"].(string)
	if !slices.Contains(RamdiskNetworks(), kind) {
		return
	}
	for _, p := range d.f.Ports {
		if p.PXEEnabled && p.Wired() && p.InternalInfo[ramdiskPort(kind)] == nil {
			info := map[string]any{ramdiskPort(kind): ""}
			maps.Copy(info, p.InternalInfo)
			p.InternalInfo = info
			d.rewire(p)
		}
	}
}

// RamdiskPorts returns the Neutron ports of ramdisks that a node's port records, and whether it may have any. A Neutron
// port that was requested without a known answer is not in ids.
func RamdiskPorts(p node.Port) (ids []string, may bool) {
	for _, kind := range RamdiskNetworks() {
		noted := p.InternalInfo[ramdiskPort(kind)]
		if id, _ := noted.(string); id != "" {
			ids = append(ids, id)
		}
		may = may || noted != nil
	}
	return ids, may
}

func (d *decision) noteRamdiskPorts(a Attached) {
	for _, p := range d.f.Ports {
		info := maps.Clone(p.InternalInfo)
		if info == nil {
			info = map[string]any{}
		}
		for _, network := range ramdiskNetworks {
			delete(info, ramdiskPort(network))
		}
		if vif := a.Ports[p.UUID]; vif != "" {
			info[ramdiskPort(a.Network)] = vif
		}
		if !maps.Equal(info, p.InternalInfo) {
			p.InternalInfo = info
			d.rewire(p)
		}
	}
}

// rewire saves a port with the node. Later parts of the decision see the new port.
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

func networkFor(activity string) check {
	return func(d *decision, _ Request) error { return CheckNetwork(d.n, d.f.Ports, d.f.Settings, activity) }
}

// CheckNetwork refuses an activity in a ramdisk, such as deploy or clean, that needs a network which this conductor
// cannot attach, or a node without a port that Neutron can wire.
func CheckNetwork(n node.Node, ports []node.Port, s Settings, activity string) error {
	switch {
	case !Neutron(n) || !agentDeploy(n):
		return nil
	case activity == "inspect" && (!inspectionNetworked(n, s) || n.Implementation("inspect") != "agent"):
		return nil
	case !s.Neutron:
		return node.Refuse(node.Invalid,
			"node %s has network interface neutron, and this conductor knows no Neutron: start it with "+
				"--neutron-networks, or set another network_interface", n.UUID)
	case n.DisablePowerOff:
		return node.Refuse(node.Invalid,
			"node %s has network interface neutron, and disable_power_off: a machine changes its network while it is "+
				"off; set disable_power_off to false, or another network_interface", n.UUID)
	case !slices.ContainsFunc(ports, func(p node.Port) bool { return p.PXEEnabled && p.Wired() }):
		return node.Refuse(node.Invalid,
			"node %s has network interface neutron, and no port with pxe_enabled and local_link_connection: inspect the "+
				"node where its switches send LLDP, or set it (ferrite port set PORT --local-link-connection port_id=NAME "+
				"--local-link-connection switch_id=MAC)", n.UUID)
	}
	_, err := OwnNetwork(n, ramdiskNetworks[activity], s.NodeNetworks)
	return err
}

// ownNetwork is the key of driver_info under which a node names a ramdisk's network of its own, as in Ironic.
func ownNetwork(kind string) string { return kind + "_network" }

// OwnNetwork is the network of a ramdisk that a node names for itself, "" for none. Users of a project may be allowed
// to change driver_info, so the network must be in the operator's list.
func OwnNetwork(n node.Node, kind string, listed []string) (string, error) {
	own, named := n.DriverInfo[ownNetwork(kind)]
	text, _ := own.(string)
	switch {
	case !named || own == nil:
		return "", nil
	case !slices.Contains(listed, text):
		return "", node.Refuse(node.Invalid, "driver_info/%s of node %s is %q, which is none of the networks that nodes may "+
			"name (--neutron-node-networks: %s); name one of those, or remove it", ownNetwork(kind), n.UUID, fmt.Sprint(own),
			cmp.Or(strings.Join(listed, ", "), "none"))
	}
	return text, nil
}

// inspectionNetworked reports whether the node has a network for inspections.
func inspectionNetworked(n node.Node, s Settings) bool {
	return s.InspectionNetwork || n.DriverInfo[ownNetwork(inspectionNetwork)] != nil
}

// vifAttached refuses a deploy of a node that would have no network at its end. VIFs of portgroups are checked when the
// machine enters the network.
func vifAttached(d *decision, _ Request) error {
	if !Neutron(d.n) || !agentDeploy(d.n) {
		return nil
	}
	if slices.ContainsFunc(d.f.Ports, func(p node.Port) bool { return p.VIF() != "" || p.PortgroupUUID != "" }) {
		return nil
	}
	return node.Refuse(node.Invalid,
		"node %s has network interface neutron, and no VIF: its system would have no network; attach one (openstack "+
			"baremetal node vif attach), or set another network_interface", d.n.UUID)
}

// inRamdiskNetwork reports whether the machine's ports are in the network of a ramdisk, or may be, and it is taken out
// of it on its way into its owner's.
func (d *decision) inRamdiskNetwork() bool { return Neutron(d.n) && InRamdiskNetwork(d.f.Ports) }

// InRamdiskNetwork reports whether ports are in the network of a ramdisk, or may be. The node's network interface may
// have changed since.
func InRamdiskNetwork(ports []node.Port) bool {
	return slices.ContainsFunc(ports, func(p node.Port) bool {
		_, may := RamdiskPorts(p)
		return may
	})
}

// checkPowerOn refuses to start the system on the disk in the network of a ramdisk that has failed. In active the
// machine goes back into its owner's network first.
func (d *decision) checkPowerOn(p powerChange) error {
	if powerAfter[p.Target] != node.PowerOn || d.n.Run != nil || !InRamdiskNetwork(d.f.Ports) {
		return nil
	}
	if !Neutron(d.n) {
		return d.stranded()
	}
	if d.n.ProvisionState == node.Active {
		return nil
	}
	return node.Refuse(node.InvalidState,
		"node %s is %q, and its machine is in the network of a ramdisk: the system on its disk must not start there; end "+
			"the activity first (abort, unrescue, rebuild, manage or delete; in manageable: clean or provide)", d.n.UUID,
		d.n.ProvisionState)
}

// notStranded refuses verbs that would start the owner's system in the network of a ramdisk: the system on the disk, or
// a ramdisk that its user logs in to. Only network interface neutron takes the machine out of it. The node had that
// interface, and has another by now.
func notStranded(d *decision, _ Request) error {
	if Neutron(d.n) || !InRamdiskNetwork(d.f.Ports) {
		return nil
	}
	return d.stranded()
}

// backNotStranded is notStranded for an abort without a run, which leads back to the workload.
func backNotStranded(d *decision, r Request) error {
	if d.n.Run != nil {
		return nil
	}
	return notStranded(d, r)
}

func (d *decision) stranded() error {
	return node.Refuse(node.InvalidState,
		"node %s has network interface %s, and its machine is still in the network of a ramdisk, since it had neutron: "+
			"its owner's system must not start there; set network_interface neutron again, and end the activity (manage; "+
			"in manageable: clean or provide; in active: power on)", d.n.UUID, d.n.Implementation("network"))
}

// leaveNetwork is the chore that removes the ports of a ramdisk after its activity has failed and been given up. The
// power stays as it is.
type leaveNetwork struct{ plain }

// leaveEffect is its effect.
const leaveEffect = "network.leave"

func (leaveNetwork) effect() string { return leaveEffect }

func (leaveNetwork) done(d *decision) { d.noteRamdiskPorts(Attached{}) }

func (leaveNetwork) failure() string {
	return "the machine was not taken out of the ramdisk's network (the next activity, or delete, does it)"
}

// leaveRamdiskNetwork follows a verb that only moves the node, out of a failure.
func (d *decision) leaveRamdiskNetwork() {
	if d.f.Settings.Neutron && InRamdiskNetwork(d.f.Ports) {
		d.beginChore(leaveNetwork{})
	}
}

// returnToTenant is the chore that takes a machine out of the network of a ramdisk, and starts it in its owner's.
type returnToTenant struct{ powerChange }

// returnEffect is its effect.
const returnEffect = "network.return_to_tenant"

func (returnToTenant) effect() string { return returnEffect }

func (r returnToTenant) done(d *decision) {
	d.noteRamdiskPorts(Attached{})
	r.powerChange.done(d)
}

func (returnToTenant) failure() string {
	return "the machine was not started in the network of its VIFs (power on tries it again)"
}

// restart is a power change that leads into a machine's own system, by way of its owner's network where that is needed.
func (d *decision) restart(p powerChange) chore {
	if powerAfter[p.Target] == node.PowerOn && d.n.Run == nil && d.inRamdiskNetwork() {
		return returnToTenant{p}
	}
	return p
}
