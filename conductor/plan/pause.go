package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// pauses are the steps at which a run stops until an event comes from outside: from the machine, an operator, or the
// clock. Each function reports whether there is a reason to stop. The last two are Ironic's reserved steps, known by
// name under any interface.
var pauses = map[string]func(d *decision, s node.Step) bool{
	waitHeartbeat: awaitAgent,
	waitData:      awaitData,
	keepOrOff:     keepOrPowerOff,
	"hold":        hold,
	"wait":        wait,
}

// The waits of our own plans.
const (
	waitHeartbeat = "agent.wait_for_heartbeat"
	waitData      = "inspect.wait_for_data"
	keepOrOff     = "agent.keep_or_power_off"
)

// pauseFor finds the pause that a step is; nil for a step that has an executor.
func pauseFor(s node.Step) func(*decision, node.Step) bool {
	if !own(s) {
		return nil
	}
	if p, ok := pauses[s.String()]; ok {
		return p
	}
	return pauses[s.Step]
}

// awaitAgent waits for the first heartbeat of a boot, unless it has come.
func awaitAgent(d *decision, _ node.Step) bool {
	if d.agentAlive() {
		return false
	}
	d.awaitBoot("the first heartbeat of the ramdisk's agent")
	return true
}

func awaitData(d *decision, _ node.Step) bool {
	d.awaitBoot("the inspection data of the ramdisk")
	return true
}

// hold leaves the node to its operator. Heartbeats are still taken note of,
// and no time runs out.
func hold(d *decision, _ node.Step) bool {
	d.fire(node.Hold)
	d.n.Run.Waiting = "an operator to say unhold"
	return true
}

// unhold lets a held run go on. If it continues with the old agent and that has not called recently, it waits for the
// agent first: the agent may have been silent for as long as the hold.
func (d *decision) unhold() {
	d.fire(node.Unhold)
	if d.err != nil {
		return
	}
	left := d.n.Run.Left()
	first := slices.IndexFunc(left, func(s node.Step) bool { return needsAgent(s) || bootsAnew(s) })
	if first >= 0 && needsAgent(left[first]) && d.n.Agent.URL != "" {
		d.insert(d.n.Run.Index+1, step("agent", "wait_for_heartbeat", nil))
	}
	d.next()
}

// bootsAnew reports whether the agent of before a step is gone after it.
func bootsAnew(s node.Step) bool {
	return own(s) && s.Interface == "power" && (s.Step == "power_off" || s.Step == "reboot")
}

// wait lets some seconds pass, or without a number waits for the next
// heartbeat.
func wait(d *decision, s node.Step) bool {
	span, timed, err := waitSpan(s)
	switch {
	case err != nil: // a step that no request has brought in
		d.failRun(err.Error())
	case timed:
		d.awaitUntil(fmt.Sprintf("%s to pass", span), d.now.Add(span))
	default:
		d.await("the next heartbeat of the ramdisk's agent")
	}
	return true
}

// longestSpan is beyond every limit: longer ones do not fit a time.Duration.
const longestSpan = 100 * 365 * 24 * time.Hour

// waitSeconds is the argument of a wait.
const waitSeconds = "seconds"

// waitSpan is how long a wait lasts; timed is false for a wait that ends with a heartbeat.
func waitSpan(s node.Step) (span time.Duration, timed bool, err error) {
	v, ok := s.Args[waitSeconds]
	if !ok {
		return 0, false, nil
	}
	var seconds float64
	switch v := v.(type) {
	case float64:
		seconds = v
	case int:
		seconds = float64(v)
	default:
		return 0, false, fmt.Errorf("step wait: seconds is %v, expected a number", cmp.Or[any](v, "null"))
	}
	if !(seconds >= 0) { // NaN too
		return 0, false, fmt.Errorf("step wait: seconds is %v, expected 0 or more", seconds)
	}
	return time.Duration(min(seconds, longestSpan.Seconds()) * float64(time.Second)), true, nil
}

// endsWithHeartbeat reports whether s is a wait for the agent's next call.
func endsWithHeartbeat(s node.Step) bool {
	_, timed, err := waitSpan(s)
	return own(s) && s.Step == "wait" && !timed && err == nil
}

// waitsFor reports the kind of an operator's wait that the run is at: for time to pass, or for a heartbeat.
func waitsFor(r *node.Run) (timed, heartbeat bool) {
	s := r.Current()
	if s == nil || s.Step != "wait" || pauseFor(*s) == nil {
		return false, false
	}
	_, timed, _ = waitSpan(*s)
	return timed, !timed
}
