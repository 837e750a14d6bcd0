package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Status describes the current work of a node, its wait and its progress.
type Status struct {
	Node, Name    string
	State, Target node.State
	Power         node.PowerState
	TargetPower   node.PowerState // of a change that is under way
	Maintenance   bool
	Reason, Fault string // of the maintenance
	Activity      string // verify, inspect, clean and so on, child for a step of the parent's; "" when at rest
	Step          string // the step under way
	Steps         []string
	Index         int // of Step in Steps
	WaitingFor    string
	Warnings      []string  // of before the activity
	Since         time.Time // of the activity
	WaitingSince  time.Time // of the wait, for a machine or a person; zero while the conductor is at work
	Until         time.Time // of the wait
	BootStages    []BootStage
	Progress      *Progress
	LastHeartbeat time.Time
	PowerReadAt   time.Time // when the BMC last reported the power state; zero when not since this conductor started
	LastError     string
	Try           string // the next thing an operator can do
}

// Progress is how far a long step has come. Done and Total are bytes, Total 0 when unknown;
// Rate is bytes a second; ETA is zero when it is unknown.
type Progress struct {
	Step, Stage string
	Done, Total int64
	Rate        float64
	ETA         time.Duration
	At          time.Time
}

// maxETA is the longest ETA that is shown: an agent may report any figures.
const maxETA = 365 * 24 * time.Hour

// Status is how a node is.
func (e *Core) Status(ctx context.Context, ref string) (Status, error) {
	n, err := e.Node(ctx, ref)
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Node: n.UUID, Name: n.Name, State: n.ProvisionState, Target: n.TargetProvisionState, Power: n.PowerState,
		TargetPower: n.TargetPowerState,
		Maintenance: n.Maintenance, Reason: n.MaintenanceReason, Fault: n.Fault,
		LastError: n.LastError, Until: n.Deadline, Try: advice(n),
	}
	if n.Run != nil {
		s.Activity, s.Since, s.Index = n.Run.Activity, n.Run.Since, n.Run.Index
		for _, st := range n.Run.Steps {
			s.Steps = append(s.Steps, st.String())
		}
		if cur := n.Run.Current(); cur != nil {
			s.Step = cur.String()
		}
		s.WaitingSince, s.Warnings = waitingSince(n), n.Run.Doubts
		if n.Run.Switched != "" {
			s.Warnings = append(slices.Clone(s.Warnings), n.Run.Switched)
		}
	}
	if s.WaitingFor, err = e.waitingFor(ctx, n); err != nil {
		return s, err
	}
	if text := e.byHandText(n); text != "" {
		s.WaitingFor, s.Try = text, "what it waits for; without that it fails after --manual-power-timeout"
	}
	if s.WaitingFor == "" && n.Run == nil && !n.Deadline.IsZero() && n.Agent.URL != "" {
		s.WaitingFor = "the next request, with its ramdisk kept running to save a boot; then the machine is switched off"
	}
	if err := e.Recall(ctx, n); err != nil {
		return s, err
	}
	s.PowerReadAt = e.LastRead(n.UUID)
	e.Memory.fill(n.UUID, &s)
	return s, nil
}

// waitingSince is when a node with a run began to wait: with the step under
// way, which may be asked after many times, or when it came into its state.
func waitingSince(n node.Node) time.Time {
	switch class := n.ProvisionState.Class(); {
	case class == node.Waiting && !n.Run.StepSince.IsZero():
		return n.Run.StepSince
	case (class == node.Waiting || class == node.Held) && n.ProvisionUpdatedAt != nil:
		return *n.ProvisionUpdatedAt
	}
	return time.Time{}
}

// waitingFor describes the next thing that a node needs: an action of another party, or the conductor's own pending
// work.
func (e *Core) waitingFor(ctx context.Context, n node.Node) (string, error) {
	said, class := "", n.ProvisionState.Class()
	if n.Run != nil {
		said = n.Run.Waiting
	}
	busy := class == node.Working || n.TargetPowerState != "" || n.Chore != ""
	if class != node.Waiting && (said != "" || !busy) {
		return said, nil
	}
	pending, err := e.pendingText(ctx, n.UUID)
	if said != "" && pending != "" {
		said += "; "
	}
	return said + pending, err
}

// pendingText describes the pending effect of a node.
func (e *Core) pendingText(ctx context.Context, uuid string) (string, error) {
	pending, err := e.Store.PendingEffect(ctx, uuid)
	if err != nil || pending == nil {
		return "", err
	}
	text := fmt.Sprintf("%s to be done", pending.Name)
	if soft := softPower(*pending); soft != "" {
		text = soft
	}
	for _, action := range slices.Sorted(maps.Keys(pending.Accepted)) {
		text += fmt.Sprintf("; %s was accepted at %s", action, pending.Accepted[action].Format("15:04:05 MST"))
	}
	if pending.Error != "" {
		text += fmt.Sprintf("; attempt %d: %s", pending.Attempt, pending.Error)
	}
	return text, nil
}

// byHandText describes the action that a person is asked for on the machine of n; "" for none.
func (e *Core) byHandText(n node.Node) string {
	hand, ok := e.BMCs[n.Driver].(ByHand)
	if !ok {
		return ""
	}
	do := map[node.PowerState]string{
		node.PowerOn: "switch the machine on", node.PowerOff: "switch the machine off",
		node.SoftPowerOff: "shut the machine down", node.Rebooting: "restart the machine",
		node.SoftRebooting: "restart the machine",
	}[hand.Awaited(n.UUID)]
	if do == "" {
		return ""
	}
	state := "on"
	if plan.PowerAfter(hand.Awaited(n.UUID)) == node.PowerOff {
		state = "off"
	}
	return fmt.Sprintf("a person to %s; then: ferrite node confirm power %s %s", do, state, cmp.Or(n.Name, n.UUID))
}

// softPower describes a power change in which the machine shuts itself down. The conductor waits for its ramdisk or
// operating system, which may take long or may have missed the request. "" for any other effect.
func softPower(pending node.Effect) string {
	var a plan.PowerArgs
	err := json.Unmarshal(pending.Args, &a)
	if err == nil && a.GraceSeconds > 0 {
		return fmt.Sprintf("the ramdisk to write out its disks and shut down, for up to %s; then the BMC cuts the power",
			Seconds(a.GraceSeconds))
	}
	if err != nil || a.Target != node.SoftPowerOff && a.Target != node.SoftRebooting {
		return ""
	}
	return fmt.Sprintf("the operating system to shut down, which may take %s", Seconds(a.TimeoutSeconds))
}

// advice is the next thing that an operator can do. States of the table have the words of nodeapi.NextStep.
func advice(n node.Node) string {
	switch last := plan.FailedPower(n); {
	case n.Run != nil && n.Run.AbortAfter:
		return "nothing: the step under way ends first, then the abort takes effect"
	case n.Run == nil && n.Chore != "":
		return "nothing: it succeeds or fails by its limit; maintenance can be set meanwhile"
	case last != "" && n.ProvisionState.Class() != node.Failed:
		return fmt.Sprintf("correct the cause of the last error (ferrite bmc doctor ADDRESS checks a BMC), then: "+
			"ferrite node power %s %s", last, cmp.Or(n.Name, n.UUID))
	case n.ProvisionState.Class() == node.Working:
		return "nothing: the conductor is at work"
	}
	text := nodeapi.NextStep(nodeapi.Status{Node: n.UUID, Name: n.Name, State: string(n.ProvisionState),
		LastError: n.LastError, Fault: n.Fault})
	if u, err := url.Parse(n.Agent.URL); err == nil && u.Hostname() != "" {
		text = strings.Replace(text, "rescue@ADDRESS", "rescue@"+u.Hostname(), 1)
	}
	return text
}

func (m *memory) fill(uuid string, s *Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.nodes[uuid]
	if !ok {
		return
	}
	for _, st := range r.stages {
		if !st.At.Before(s.Since) { // skip the stages of an earlier activity
			s.BootStages = append(s.BootStages, st)
		}
	}
	if len(s.BootStages) > 0 && !r.off.IsZero() {
		s.BootStages = append(s.BootStages, BootStage{Name: "power off", Detail: ByRequest, At: r.off})
	}
	s.LastHeartbeat = r.seen
	if !r.beatRefused.IsZero() {
		s.Warnings = append(slices.Clone(s.Warnings), fmt.Sprintf("a heartbeat was refused at %s, since its token is not "+
			"that of this boot: the ramdisk is of an earlier boot, or another machine calls",
			r.beatRefused.UTC().Format("15:04:05 MST")))
	}
	if r.at.IsZero() {
		return
	}
	p := &Progress{Step: r.last.Step, Stage: r.last.Stage, Done: r.last.Done, Total: r.last.Total, At: r.at}
	if took := r.at.Sub(r.since).Seconds(); took > 0 {
		p.Rate = float64(p.Done-r.first) / took
	}
	if left := float64(p.Total-p.Done) / p.Rate; p.Rate > 0 && left > 0 && left < maxETA.Seconds() {
		p.ETA = time.Duration(left * float64(time.Second))
	}
	s.Progress = p
}
