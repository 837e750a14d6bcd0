package host

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Media is the state of the machine's virtual drives.
type Media struct {
	Slots []node.MediaSlot // none of a BMC that has no drives, or cannot be asked for them
	Fault string           // why it did not answer; "" when it did
}

// cdDevice is the kind of drive that DataImages are put into.
const cdDevice = "cdrom"

// cdDrive is whether there is a drive for a CD, and whether one has something in it.
func (m Media) cdDrive() (there, loaded bool) {
	for _, s := range m.Slots {
		if slices.Contains(s.Types, "CD") || slices.Contains(s.Types, "DVD") {
			there, loaded = true, loaded || s.Inserted
		}
	}
	return there, loaded
}

// AsksMedia reports whether a decision needs the contents of the machine's virtual drives, and whether its BMC may be
// asked.
func AsksMedia(facts Facts) bool {
	d, n := begin(facts), facts.Node
	if facts.DataImage == nil || n == nil || facts.Away != "" || d.paused() || d.detachAsked() != nil {
		return false
	}
	if n.ProvisionState == node.Enroll || engaged(*n) || n.Chore != "" || n.TargetPowerState != "" {
		return false
	}
	switch d.state().Canonical() {
	case hostapi.StateAvailable, hostapi.StateProvisioned, hostapi.StateExternallyProvisioned:
		return true
	default:
		return d.image.beingDeleted()
	}
}

// engaged: the node is busy with something that needs the machine as it is.
func engaged(n node.Node) bool {
	class := n.ProvisionState.Class()
	return class == node.Working || class == node.Waiting
}
