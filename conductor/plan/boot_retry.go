package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// A network boot gets lost now and then: the switch forwards late, the card's ROM gives up, a reply
// is dropped. A machine that is seen to have gone no further for BootRetryAfter is started again,
// before the whole wait is over.

// earlyStages are the boot stages of package pxe before the ramdisk runs. A machine at one of them,
// or at none, may as well start again.
var earlyStages = []string{"", "power on", "dhcp offer", "dhcp ack", "tftp boot file", "http boot file", "ipxe script",
	"kernel", "boot failed", "no boot loader for it", StageMedium}

// Boot is the last boot stage that was seen of a machine; the zero value is none.
type Boot struct {
	Stage string
	At    time.Time
}

// awaitBoot waits for a ramdisk, and looks after a while how far it has come.
func (d *decision) awaitBoot(why string) {
	r := d.n.Run
	r.BootAwaited, r.BootLook = d.now, false
	d.await(why)
	d.lookLater()
}

// awaitBootAnew handles a restart of the conductor. The boot under way may have failed, because this conductor served
// it, and its progress in the meantime was not seen. An agent that was already in its ramdisk calls by itself.
func (d *decision) awaitBootAnew() {
	r := d.n.Run
	if r.BootAwaited.IsZero() {
		return
	}
	ran := d.f.Boot.At.After(r.BootAwaited) && !slices.Contains(earlyStages, d.f.Boot.Stage)
	r.BootAwaited, r.BootLook = d.now, false
	if !ran {
		d.lookLater()
	}
}

// lookLater has the node looked at after BootRetryAfter, if its machine may then be started again.
func (d *decision) lookLater() {
	if look := d.now.Add(d.f.Settings.BootRetryAfter); d.bootsAgain() && look.Before(d.n.Deadline) {
		d.n.Deadline, d.n.Run.BootLook = look, true
	}
}

// awaitsBoot reports whether the run waits for a ramdisk that the conductor has started.
func (d *decision) awaitsBoot() bool {
	s := d.n.Run.Current()
	return (waitsIn(s, waitHeartbeat) || waitsIn(s, waitData)) && !d.n.Run.BootAwaited.IsZero() && d.n.Agent.URL == ""
}

// bootsAgain reports whether the awaited machine may be started again. A machine without a BMC may not, because a
// person would have to do it.
func (d *decision) bootsAgain() bool {
	r, s := d.n.Run, d.f.Settings
	left := s.BootRetryAfter > 0 && r.BootTries < s.BootRetries
	return left && d.awaitsBoot() && !inRamdisk(d.n) && !ByHand(d.n) && r.Switched == ""
}

// retryBoot looks how far a ramdisk has come that is waited for: it starts the machine again, or
// lets it go on. It reports false where there is nothing to look for, and the wait has had its
// time.
func (d *decision) retryBoot() bool {
	r, s := d.n.Run, d.f.Settings
	if !r.BootLook || !d.awaitsBoot() {
		return false
	}
	if d.f.EffectPending { // a power request: it ends first
		d.n.Deadline = d.now.Add(5 * time.Second)
		return true
	}
	since, end, stage := r.BootAwaited, r.BootAwaited.Add(d.timeout()), "" // a stage of before is of another boot
	if d.f.Boot.At.After(since) {
		since, stage = d.f.Boot.At, d.f.Boot.Stage
	}
	retry := since.Add(s.BootRetryAfter)
	switch {
	case !slices.Contains(earlyStages, stage) || !d.bootsAgain():
		r.BootLook, d.n.Deadline = false, end
	case since != r.BootAwaited && retry.After(d.now): // it has come further meanwhile
		r.BootLook, d.n.Deadline = retry.Before(end), earlier(end, retry)
	default:
		r.BootTries++
		got := "asked for no address"
		if d.f.BootStage != "" {
			got = "went no further than " + d.f.BootStage
		}
		d.note("WARNING", fmt.Sprintf("the machine %s for %s; it is started again, try %d of %d", got,
			d.now.Sub(since).Round(time.Second), r.BootTries+1, s.BootRetries+1))
		d.insert(r.Index, bootRamdisk(d)...)
		d.advance()
	}
	return true
}

// inTries names the number of starts of a machine, for the reason of a failure; "" for one start.
func inTries(r *node.Run) string {
	if r.BootTries == 0 {
		return ""
	}
	return fmt.Sprintf(" in %d starts", r.BootTries+1)
}
