package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// finish ends the run after its last step.
func (d *decision) finish() {
	if node.Row(d.n.ProvisionState, node.Done) == nil {
		d.work()
	}
	r := *d.n.Run
	d.note("INFO", fmt.Sprintf("%s done in %s%s", r.Activity, d.now.Sub(r.Since).Round(100*time.Millisecond),
		firmwareStarts(r)))
	d.n.Run = nil
	activities[r.Activity].done(d, r)
	d.dirty = true
}

// failRun ends the run because of the step it is at.
func (d *decision) failRun(reason string) {
	if s := d.n.Run.Current(); s != nil {
		reason = fmt.Sprintf("%s failed at step %s: %s", d.n.Run.Activity, named(*s), reason)
		if len(d.n.Run.Doubts) > 0 && s.String() == writeImage {
			reason += "; " + strings.Join(d.n.Run.Doubts, "; ")
		}
	}
	if d.n.Run.Switched != "" {
		reason += "; " + d.n.Run.Switched
	}
	d.endRun(reason)
}

// endRun ends the run with a reason. No effect of it is left pending.
func (d *decision) endRun(reason string) {
	reason = Clip(reason)
	d.n.LastError = reason
	d.note("ERROR", reason)
	r := *d.n.Run
	d.n.Run = nil
	d.n.Agent.Doubted = d.n.Agent.URL != ""
	activities[r.Activity].fail(d, r, reason)
	d.n.Deadline = time.Time{}
	d.dirty = true
}

// maxReason bounds the kept text of a machine's error, in bytes.
const maxReason = 4096

// Clip returns a reason in the form for last_error and the history: without the credentials in URLs, without control
// characters, and not too long. BMCs and agents have written parts of it.
func Clip(reason string) string {
	reason = nodeapi.Printable(nodeapi.MaskText(reason))
	if len(reason) <= maxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:maxReason], "") + " ... (cut short)"
}
