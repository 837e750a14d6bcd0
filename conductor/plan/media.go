package plan

import (
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// AttachRequest is an operator's wish for a medium in a virtual drive.
type AttachRequest struct {
	plain
	node.Medium
}

// DetachRequest is an operator's wish for virtual drives to be emptied.
type DetachRequest struct {
	plain
	Devices []string `json:"device_types"` // kinds of drive, empty for all
}

func (AttachRequest) effect() string { return "management.attach_virtual_media" }
func (DetachRequest) effect() string { return "management.detach_virtual_media" }

func (r AttachRequest) handle(d *decision) error { return d.requestChore(r) }
func (r DetachRequest) handle(d *decision) error { return d.requestChore(r) }

func (AttachRequest) check(d *decision) error { return answers(d.n) }
func (DetachRequest) check(d *decision) error { return answers(d.n) }

// answers: media are changed in any state, as Ironic does, but a dead BMC is not
// worth asking.
func answers(n node.Node) error {
	if n.Maintenance && n.Fault == PowerFailure {
		return node.Refuse(node.Busy, "Unable to change virtual media for node %s due to power failure state", n.UUID)
	}
	return nil
}

// Success is recorded too: nothing else on the record changes with it.
func (r AttachRequest) done(d *decision) { d.noteChore("INFO", r.effect(), r.effect()+" done") }
func (r DetachRequest) done(d *decision) { d.noteChore("INFO", r.effect(), r.effect()+" done") }

func (r AttachRequest) failure() string { return r.effect() + " failed" }
func (r DetachRequest) failure() string { return r.effect() + " failed" }

// AttachFailed reports whether the last thing that went wrong with a node is an
// AttachRequest.
func AttachFailed(n node.Node) bool { return strings.HasPrefix(n.LastError, AttachRequest{}.failure()) }

// DetachFailed reports the same of a DetachRequest.
func DetachFailed(n node.Node) bool { return strings.HasPrefix(n.LastError, DetachRequest{}.failure()) }
