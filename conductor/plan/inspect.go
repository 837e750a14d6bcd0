package plan

import (
	"slices"
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
	d.portsFound(e.Data)
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
		p["capabilities"] = node.SetCapability(capabilityLine(p), "boot_mode", mode)
	}
	d.countPCI(data.PCIDevices)
	d.dirty = true
}
