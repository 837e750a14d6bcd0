package host

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// minReportedWait is how long a wait lasts before it is reported: most are shorter, and
// need no write.
const minReportedWait = 30 * time.Second

// deletionBlocker describes the work that delays a deletion, and its end. It is "" where there is none, and for a host
// that is not being deleted.
func (d *decision) deletionBlocker() string {
	n := d.facts.Node
	if !d.beingDeleted() || n == nil || d.Action != nil {
		return ""
	}
	begun := n.ProvisionUpdatedAt
	if n.Chore != "" || n.TargetPowerState != "" {
		begun = n.UpdatedAt
	}
	if begun != nil && d.facts.Now.Sub(*begun) < minReportedWait {
		return ""
	}
	text := "waits for node " + cmp.Or(n.Name, n.UUID)
	switch {
	case n.Chore == plan.ShutDown:
		return text + " to shut down" + since(begun)
	case n.TargetPowerState != "":
		return fmt.Sprintf("%s to be %q%s", text, n.TargetPowerState, since(begun))
	case n.Chore != "":
		return text + ", whose BMC is at " + n.Chore + since(begun)
	case !engaged(*n):
		return ""
	}
	text += fmt.Sprintf(", which is %q%s", n.ProvisionState, since(begun))
	if n.Run != nil && n.Run.Waiting != "" {
		text += ", for " + n.Run.Waiting
	}
	if !n.Deadline.IsZero() {
		text += "; that fails if it does not report again by " + moment(n.Deadline)
	}
	return text
}

func since(at *time.Time) string {
	if at == nil {
		return ""
	}
	return " since " + moment(*at)
}

// moment is a time for people, with its date: cleaning may last for days.
func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 MST") }
