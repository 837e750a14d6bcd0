package plan

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// inspect reads the hardware of a machine: inspecting -> manageable. The inspect interface decides on the source: the
// ramdisk (agent), the BMC (redfish), or none (fake).
type inspect struct{}

func (inspect) steps(d *decision) ([]node.Step, error) {
	at := d.now
	d.n.InspectionStartedAt, d.n.InspectionFinishedAt = &at, nil
	switch d.n.Implementation("inspect") {
	case "agent":
		steps := append(append(d.findPorts(), bootRamdisk(d)...), step("inspect", "wait_for_data", nil))
		return slices.Concat(steps, ejectSteps(d.n), d.readHardware(), leaveRamdisk(d)), nil
	case "redfish":
		return append([]node.Step{step("inspect", "read_system", nil)}, d.readHardware()...), nil
	}
	return nil, nil
}

func (inspect) done(d *decision, _ node.Run) {
	at := d.now
	d.n.InspectionFinishedAt = &at
	d.fire(node.Done)
}

func (inspect) fail(d *decision, _ node.Run, _ string) {
	d.n.InspectionStartedAt = nil
	d.fire(node.Fail)
}

func (inspect) timeout(s Settings) time.Duration { return s.InspectTimeout }

func inspectable(d *decision, _ Request) error {
	switch name := d.n.Implementation("inspect"); {
	case name == "agent", name == "redfish", name == "fake":
		return nil
	case d.n.Off("inspect"):
		return node.Refuse(node.Invalid,
			"node %s has inspect interface no-inspect; set inspect_interface to agent or redfish", d.n.UUID)
	default:
		return node.Refuse(node.Invalid,
			"node %s has inspect interface %q, which is not built into this release; set inspect_interface to agent or redfish",
			d.n.UUID, name)
	}
}

// Needs returns the facts for inspection rules and ports.
func (e Inspected) Needs(node.Node) Need {
	return Need{Rules: true, Addresses: newAddresses(e.Data.Inventory.Interfaces),
		System: node.SystemUUID(e.Data.SystemUUID)}
}

// handle takes the data of a ramdisk that the node waits for.
func (e Inspected) handle(d *decision) error {
	if !waitsIn(d.n.Run.Current(), waitData) {
		return node.Refuse(node.NotFound, "node %s does not wait for inspection data: it is %q", d.n.UUID, d.n.ProvisionState)
	}
	if err := e.Data.Validate(); err != nil {
		return node.Refuse(node.Invalid, "%v", err)
	}
	if d.f.EffectPending { // a power request: the ramdisk sends its data again, if it lives on
		return d.locked()
	}
	if err := d.knowSystem(e.Data.SystemUUID); err != nil {
		d.failRun(err.Error())
		return nil
	}
	if e.Data.Odd != "" {
		d.note("WARNING", Clip("inspection data have a value that is left out: "+e.Data.Odd))
	}
	d.learn(e.Data)
	if managers := e.Data.Managers(); checkVersions(managers) == nil {
		d.n.Run.Versions = managers
	}
	switches := readSwitchData(e.Data)
	d.inspected = &node.Inspected{Inventory: inventoryOf(e.Raw), PluginData: beside(e.Raw, pluginDataOf(e.Data), switches)}
	d.addPorts(e.Data)
	d.link(d.allPorts(), switches)
	if e.Data.Error != nil && *e.Data.Error != "" {
		d.failRun("the ramdisk reported: " + *e.Data.Error)
		return nil
	}
	if err := d.applyRules(); err != nil {
		d.failRun(err.Error())
		return nil
	}
	d.next()
	return nil
}

// learn fills the properties schedulers look at: cpus, cpu_arch, memory_mb
// and local_gb (of the root disk, less one for partitioning, as Ironic has it).
func (d *decision) learn(data agentapi.Inspection) {
	if d.n.Properties == nil {
		d.n.Properties = map[string]any{}
	}
	inv, p := data.Inventory, d.n.Properties
	if inv.CPU.Count > 0 {
		p["cpus"] = inv.CPU.Count
	}
	if inv.CPU.Architecture != "" {
		p["cpu_arch"] = inv.CPU.Architecture
	}
	if inv.Memory.PhysicalMB > 0 {
		p["memory_mb"] = inv.Memory.PhysicalMB
	}
	if data.RootDisk != nil && data.RootDisk.Size > 0 {
		p["local_gb"] = max(data.RootDisk.Size>>30-1, 0)
	}
	delete(d.n.DriverInternalInfo, inspectedBootMode)
	if mode := inv.Boot.CurrentBootMode; mode != "" {
		d.n.BootMode = mode
		p["capabilities"] = node.SetCapability(text(p, "capabilities"), "boot_mode", mode)
	}
	d.dirty = true
}

// addPorts makes a port of every interface without a port that links the machine to a network: the boot interface, and
// interfaces with carrier. It skips an address of another node's port, and an address that is not Ethernet. A node that
// has ports gets no others: inspection data are claims of one boot, but a port is trusted at every later boot. The
// history lists these interfaces, so that the operator can create the correct ports.
func (d *decision) addPorts(data agentapi.Inspection) {
	var unconfirmed []string
	defer func() { d.noteUnconfirmed(unconfirmed) }()
	known := map[string]bool{}
	for _, p := range d.f.Ports {
		known[p.Address] = true
	}
	boot := bootMAC(data.BootInterface)
	for _, i := range data.Inventory.Interfaces {
		mac, ok := ethernet(i.MACAddress)
		if !ok || known[mac] || (mac != boot && !i.HasCarrier) {
			continue
		}
		known[mac] = true
		if d.f.Taken[mac] {
			d.note("WARNING", fmt.Sprintf("interface %s is made no port: its address %s is another node's", i.Name, mac))
			continue
		}
		if len(d.f.Ports) > 0 {
			unconfirmed = append(unconfirmed, strings.TrimSpace(i.Name+" "+mac))
			continue
		}
		d.ports = append(d.ports, node.Port{NodeUUID: d.n.UUID, Address: mac, PXEEnabled: boot == "" || mac == boot,
			CreatedAt: d.now})
	}
}

// noteUnconfirmed records interfaces that did not become ports.
func (d *decision) noteUnconfirmed(list []string) {
	if len(list) == 0 {
		return
	}
	shown := strings.Join(list[:min(len(list), 8)], ", ")
	if more := len(list) - 8; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	d.note("WARNING",
		fmt.Sprintf("inspection found interfaces that are not made ports, since the node has ports already and no "+
			"operator has "+
			"confirmed these: %s; create the ports of those that are the machine's (baremetal port create --node %s ADDRESS)",
			shown, d.n.UUID))
}

// bootMAC reads BOOTIF, which PXELINUX prefixes with the hardware type and
// writes with dashes ("01-52-54-..."), and iPXE may write plainly.
func bootMAC(bootif string) string {
	s := strings.ToLower(strings.ReplaceAll(bootif, "-", ":"))
	if len(s) == len("01:00:00:00:00:00:00") {
		s = s[3:]
	}
	if _, err := net.ParseMAC(s); err != nil {
		return ""
	}
	return s
}
