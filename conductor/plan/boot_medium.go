package plan

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// A node with the boot interface redfish-virtual-media boots from an image that this conductor
// serves and the BMC has in a virtual drive. The image is inserted before each boot and ejected once
// the machine needs it no more; a run that ends before that leaves the ejection to a chore.

// The steps that change the drive.
const (
	insertMedium = "management.insert_boot_medium"
	ejectMedium  = "management.eject_boot_medium"
	clearMedium  = "management.clear_boot_medium" // beside a run
)

// mediumDevice is the virtual drive's boot device.
const mediumDevice = "cdrom"

// StageMedium is the boot stage at which the machine's boot loader has read its configuration from the medium.
const StageMedium = "boot medium read"

// bootMedium is the key in driver_internal_info for the medium that may be in the drive of a node: MediumRamdisk or
// MediumInstance. It is written before the BMC is asked, and removed when the drive is empty.
const bootMedium = "boot_medium"

// The boot media of a node: for the ramdisk, and for an instance that lives in memory.
const (
	MediumRamdisk  = "ramdisk"
	MediumInstance = "instance"
)

// BootsByMedium reports whether n boots its ramdisk from a virtual drive.
func BootsByMedium(n node.Node) bool { return n.Implementation("boot") == "redfish-virtual-media" }

// MediumOf returns our medium that may be in the drive of n; "" for none.
func MediumOf(n node.Node) string { return text(n.DriverInternalInfo, bootMedium) }

// MediumArgs is the args of management.insert_boot_medium.
type MediumArgs struct {
	Medium string `json:"medium"`
}

// insertSteps puts a medium into the drive of a node that boots from one.
func insertSteps(n node.Node, medium string) []node.Step {
	if !BootsByMedium(n) {
		return nil
	}
	return []node.Step{step("management", "insert_boot_medium", map[string]any{"medium": medium})}
}

// ejectSteps takes the ramdisk's medium out once the ramdisk runs: it is in memory.
func ejectSteps(n node.Node) []node.Step {
	if !BootsByMedium(n) {
		return nil
	}
	return []node.Step{step("management", "eject_boot_medium", nil)}
}

// ramdiskDevice is the boot device of the ramdisk.
func ramdiskDevice(n node.Node) string {
	if BootsByMedium(n) {
		return mediumDevice
	}
	return networkDevice(n)
}

// mediumEnters notes a medium before it is inserted: if the conductor dies in between, the medium is still ejected
// later.
func (d *decision) mediumEnters(s node.Step) {
	if medium, _ := s.Args["medium"].(string); s.String() == insertMedium {
		d.setInternal(bootMedium, medium)
	}
}

// mediumLeft notes that the drive is empty, or that it is no longer ours to empty.
func (d *decision) mediumLeft() {
	delete(d.n.DriverInternalInfo, bootMedium)
	d.dirty = true
}

// mediumInserted goes on. The history notes oddities of the drive.
func mediumInserted(d *decision, r ChoreDone) error {
	if r.Note != "" {
		d.note("WARNING", Clip(r.Note))
	}
	return nil
}

func mediumEjected(d *decision, r ChoreDone) error {
	d.mediumLeft()
	return mediumInserted(d, r)
}

// ejectFailed continues a run although the BMC does not eject: the machine has booted, and the next insertion empties
// the drive first.
func ejectFailed(d *decision, o Outcome) bool {
	d.mediumLeft()
	d.note("WARNING", Clip("the BMC does not eject the boot medium: "+o.Failure))
	d.next()
	return true
}

// ejectBootMedium is the chore that empties the drive after a run which could not.
type ejectBootMedium struct{ plain }

func (ejectBootMedium) effect() string     { return clearMedium }
func (ejectBootMedium) failure() string    { return "the boot medium is still in the virtual drive" }
func (ejectBootMedium) done(d *decision)   { d.mediumLeft() }
func (ejectBootMedium) failed(d *decision) { d.mediumLeft() }

// ejectAfter empties the drive where no run does: it has failed or was aborted, or the node needs
// its instance's medium no more. A node with another pending effect is looked at when that ends.
func (d *decision) ejectAfter(before node.Node, e Event) {
	o, settles := e.(Outcome)
	if before.Chore != "" && before.Chore != o.Effect.Name { // it is pending still
		return
	}
	if MediumOf(d.n) == "" || d.n.Run != nil || len(d.effects) > 0 || d.f.EffectPending && !settles {
		return
	}
	if _, boots := BootsInstance(d.n); boots && MediumOf(d.n) == MediumInstance {
		return
	}
	d.beginChore(ejectBootMedium{})
}

// checkBootMedium refuses a run that would boot from a medium which cannot be served.
func (d *decision) checkBootMedium() error {
	if !BootsByMedium(d.n) || d.f.Settings.BootMedia || !WantsRamdisk(d.n) && !insertsOurs(d.n) {
		return d.checkAgentProof()
	}
	if at := AgentISO(d.n); at != "" && !node.KeptImage(at) && !SettingsByDrive(d.n) {
		return nil
	}
	return fmt.Errorf("node %s has the boot interface %s, and this conductor serves no boot media: start it with --boot "+
		"(--dhcp off where another server gives addresses), or set boot_interface to ipxe", d.n.UUID, d.n.Interfaces["boot"])
}

// insertsOurs reports whether the run inserts a medium of the instance that this conductor makes.
func insertsOurs(n node.Node) bool {
	return text(n.InstanceInfo, "boot_iso") == "" && slices.ContainsFunc(n.Run.Left(), func(s node.Step) bool {
		return own(s) && s.String() == insertMedium && s.Args["medium"] == MediumInstance
	})
}

// InstanceMedium is the URL that the BMC reads an instance's medium from; "" where this conductor makes the medium of
// the instance's kernel and ramdisk.
func InstanceMedium(n node.Node) (string, error) {
	return text(n.InstanceInfo, "boot_iso"), hasRamdisk(n)
}
