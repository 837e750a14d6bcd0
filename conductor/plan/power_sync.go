package plan

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// PowerFailure is the fault of a node if its BMC could not be read, or its power could not be kept. It is the only
// fault that the conductor clears by itself.
const PowerFailure = "power failure"

// powerEvent is the event type of the power sync's history entries, as in Ironic's history.
const powerEvent = "monitoring"

// confirmations is how many readings in a row must differ from the record
// before they count: a BMC that stutters once moves nothing.
const confirmations = 2

// PowerRead is one reading of a machine's power by the power sync.
type PowerRead struct {
	simple
	PowerTally
	Revision int64           // of the node at the reading: a node saved meanwhile is read again
	State    node.PowerState // as the BMC reports it, "" when it does not know
	Health   string          // of the machine, "" when the BMC does not report it
	Failure  string          // why there is no answer, "" when there is one
}

// PowerTally sums up the readings of one node, including the current one. It is kept in memory: a conductor that starts
// counts afresh.
type PowerTally struct {
	Failures int             // readings in a row without an answer
	Since    time.Time       // when the first of them failed
	Differs  int             // answers in a row other than the record
	record   node.PowerState // the record they differ from
}

// Count takes one more reading, of the BMC of n, into the tally.
func (t *PowerTally) Count(n node.Node, v node.Vitals, failure string, now time.Time) PowerRead {
	if t.record != n.PowerState {
		t.record, t.Differs = n.PowerState, 0
	}
	switch {
	case failure != "" && t.Failures == 0:
		t.Failures, t.Since = 1, now
	case failure != "":
		t.Failures++
	case n.Chore != "": // the chore may be changing the power
		t.Failures, t.Since = 0, time.Time{}
	default:
		t.Failures, t.Since = 0, time.Time{}
		if t.Differs++; v.Power == "" || v.Power == t.record {
			t.Differs = 0
		}
	}
	return PowerRead{PowerTally: *t, Revision: n.Revision, State: v.Power, Health: v.Health, Failure: failure}
}

// Unsure reports whether an answer needs another one to confirm it.
func (t PowerTally) Unsure() bool { return t.Differs > 0 && t.Differs < confirmations }

// unread are the states at rest in which a machine is not ours to look after
// (two of Ironic's SYNC_EXCLUDED_STATES; in the others a run is under way).
var unread = map[node.State]bool{node.Enroll: true, node.AdoptFailed: true}

// PowerPoll is the interval at which the power of n is read; 0 for never. A node that a run works on is not read. A
// node in maintenance is read only if the power sync has put it there. While a chore is under way the readings count,
// and change nothing.
func PowerPoll(n node.Node, s Settings) time.Duration {
	class := n.ProvisionState.Class()
	switch {
	case n.Run != nil:
		return 0
	case unread[n.ProvisionState] || class != node.Stable && class != node.Failed:
		return 0
	case ByHand(n): // it has no BMC to ask
		return 0
	case !n.Maintenance:
		return s.SyncPowerInterval
	case n.Fault == PowerFailure:
		return s.PowerRecoveryInterval
	}
	return 0
}

// PowerNews reports whether a reading changes anything about n as it is. Most
// readings do not, and are not brought to Decide.
func PowerNews(n node.Node, e PowerRead, s Settings) bool {
	return e.healthNews(n, s) || e.meaning(n, s) != nil
}

// healthNews reports whether a reading has another health than is on record. A BMC that is
// silent says nothing of its machine's.
func (e PowerRead) healthNews(n node.Node, s Settings) bool {
	return e.Failure == "" && e.Health != n.Health && e.Revision == n.Revision && PowerPoll(n, s) > 0 && n.Chore == ""
}

// meaning returns the action that a reading requires; nil when there is nothing to write.
func (e PowerRead) meaning(n node.Node, s Settings) func(*decision, PowerRead) {
	switch {
	case e.Revision != n.Revision || PowerPoll(n, s) == 0 || n.Chore != "":
		return nil
	case e.Failure != "" && (n.Maintenance || e.Failures <= s.PowerSyncRetries):
		return nil
	case e.Failure != "":
		return (*decision).powerLost
	case n.Maintenance:
		return (*decision).powerBack
	case e.State == "" || e.State == n.PowerState:
		return nil
	case n.PowerState == "":
		return (*decision).powerLearnt
	case e.Differs < confirmations:
		return nil
	case !s.ForcePowerState || n.DisablePowerOff || n.FollowsPower():
		return (*decision).powerFound
	case e.Differs-confirmations < s.PowerSyncRetries:
		return (*decision).forcePower
	}
	return (*decision).powerStuck
}

// handle takes a reading. A node that is reserved is left alone.
func (e PowerRead) handle(d *decision) error {
	if d.f.EffectPending {
		return nil
	}
	follow := e.meaning(d.n, d.f.Settings)
	if e.healthNews(d.n, d.f.Settings) {
		d.healthFound(e)
	}
	if follow != nil {
		follow(d, e)
	}
	return nil
}

// healthFound records the machine's health as the BMC reports it.
func (d *decision) healthFound(e PowerRead) {
	before := d.n.Health
	d.n.Health, d.dirty = e.Health, true
	switch {
	case before == "" && e.Health == "OK": // the normal case
	case e.Health == "":
		d.notePower("INFO", fmt.Sprintf("the BMC no longer reports the machine's health; it was %q", before))
	case e.Health == "OK":
		d.notePower("INFO", fmt.Sprintf("the machine's health is %q again, it was %q", e.Health, before))
	default:
		d.notePower("WARNING", fmt.Sprintf("the machine's health is %q, it was %q; look into the BMC's log for the reason",
			e.Health, cmp.Or(before, "not known")))
	}
}

// powerLearnt records the power of a node that had no record of it.
func (d *decision) powerLearnt(e PowerRead) { d.setPower(e.State, e.State != node.PowerOn) }

// powerFound corrects the recorded power by a reading.
func (d *decision) powerFound(e PowerRead) {
	text := fmt.Sprintf("found %q where %q was recorded; the record was corrected", e.State, d.n.PowerState)
	d.setPower(e.State, e.State != node.PowerOn)
	d.notePower("INFO", text)
}

// forcePower switches the machine to the recorded power, the way a request does.
func (d *decision) forcePower(e PowerRead) {
	d.notePower("INFO", fmt.Sprintf("found %q where %q is recorded; changing the machine to the record, try %d of %d",
		e.State, d.n.PowerState, e.Differs-confirmations+1, d.f.Settings.PowerSyncRetries))
	d.beginChore(d.powerChange(d.n.PowerState, 0))
}

// powerStuck gives up forcing a machine: the record follows it, and a person
// has to see why.
func (d *decision) powerStuck(e PowerRead) {
	reason := fmt.Sprintf("the machine is %q and did not stay %q in %d tries, so the record was corrected; find "+
		"out which program or person switches it, or how its BMC handles the commands",
		e.State, d.n.PowerState, d.f.Settings.PowerSyncRetries)
	d.setPower(e.State, e.State != node.PowerOn)
	d.powerFails(reason)
}

// powerLost takes a node out of service after its BMC has been silent for long. The last known power state stands.
func (d *decision) powerLost(e PowerRead) {
	d.powerFails(
		fmt.Sprintf("no answer of the BMC to %d readings of the power state since %s: %s; check its address, its "+
			"credentials and the way to it",
			e.Failures, e.Since.UTC().Format("2006-01-02 15:04:05 MST"), Clip(e.Failure)))
}

// powerFails puts the node into maintenance, and says whether it comes out of
// it by itself. In a failed state last_error keeps the reason of that.
func (d *decision) powerFails(reason string) {
	reason += "; then end the maintenance"
	if every := d.f.Settings.PowerRecoveryInterval; every > 0 {
		reason += fmt.Sprintf(", or let it end by itself (the BMC is asked every %s)", every)
	}
	d.n.Maintenance, d.n.MaintenanceReason, d.n.Fault = true, reason, PowerFailure
	if d.n.ProvisionState.Class() != node.Failed {
		d.n.LastError = reason
	}
	d.notePower("ERROR", reason)
}

// powerBack puts a node back into service after its BMC answers again, with the power that it has now.
func (d *decision) powerBack(e PowerRead) {
	text := "the BMC answers again: the node has left maintenance"
	if e.State != "" && e.State != d.n.PowerState {
		text += fmt.Sprintf(", %q instead of %q", e.State, d.n.PowerState)
		d.setPower(e.State, e.State != node.PowerOn)
	}
	if d.n.LastError == d.n.MaintenanceReason {
		d.n.LastError = ""
	}
	d.n.Maintenance, d.n.MaintenanceReason, d.n.Fault = false, "", ""
	d.notePower("INFO", text)
}

// notePower adds a line of the power sync to the history.
func (d *decision) notePower(severity, text string) {
	d.noteMonitoring(severity, "power sync: "+text)
}
