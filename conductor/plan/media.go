package plan

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The effects of a request for virtual media. Like power requests they belong
// to no run and leave the provision state alone.
const (
	attachEffect = "management.attach_virtual_media"
	detachEffect = "management.detach_virtual_media"
)

// MediaRequest is an operator's wish for a medium in a virtual drive, or for
// drives to be emptied.
type MediaRequest struct {
	Attach *node.Medium
	Detach []string // kinds of drive, empty for all; where nothing is to be attached
}

func (MediaRequest) event() {}

// DetachArgs is the args of management.detach_virtual_media.
type DetachArgs struct {
	Devices []string `json:"device_types"` // empty for all
}

// requestMedia takes a request in any state, as Ironic does: only a node that
// is reserved has to be left alone, and a dead BMC is not worth asking.
func (d *decision) requestMedia(r MediaRequest) error {
	switch {
	case d.f.Owed:
		return d.locked()
	case d.n.Maintenance && d.n.Fault == PowerFailure:
		return node.Refuse(node.Busy, "Unable to change virtual media for node %s due to power failure state", d.n.UUID)
	}
	d.pardon()
	if r.Attach != nil {
		d.owe(attachEffect, r.Attach)
		d.n.Errand = attachEffect
		return d.err
	}
	d.owe(detachEffect, DetachArgs{r.Detach})
	d.n.Errand = detachEffect
	return d.err
}

// mediaAnswered records how a request for virtual media ended.
func (d *decision) mediaAnswered(o Outcome) {
	d.n.Errand = ""
	severity, text := "INFO", o.Effect.Name+" done"
	if o.Failure != "" {
		severity, text = "ERROR", fmt.Sprintf("%s failed: %s", o.Effect.Name, Clip(o.Failure))
		d.n.LastError = text
	}
	d.note(severity, text)
	d.history[len(d.history)-1].EventType = "management"
}
