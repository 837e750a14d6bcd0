package plan

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

var exploreDepth = flag.Int("explore.depth", 0,
	"how many events the exploration puts in a row; 0 for as many as lead to anything new")

// TestExplore starts in each state a node can rest in and lets every sequence of
// events happen, until none leads to a situation that is new: requests, outcomes good and bad, heartbeats,
// deadlines, crashes between any two writes, outcomes that come twice. The
// effects table is modelled: one row at the most, which survives a crash.
// Situations that are the same but for times, texts and numbers are visited
// once. In each of them the invariants must hold, and from each the node must
// come to rest by itself, whether the world works or fails.
func TestExplore(t *testing.T) {
	for _, base := range explored {
		t.Run(base.name, func(t *testing.T) {
			x := &explorer{t: t, seen: map[string]bool{}, states: map[node.State]bool{}, chores: map[string]bool{},
				now: exploreNow}
			var level []world
			for state, info := range node.States {
				if info.Class == node.Stable || info.Class == node.Failed { // the others are come to
					level = append(level, start(base.interfaces, state, base.fastTrack))
				}
			}
			depth := 0
			for ; len(level) > 0 && (depth <= *exploreDepth || *exploreDepth == 0) && !t.Failed(); depth++ {
				var next []world
				for _, w := range level {
					if key := w.key(); !x.seen[key] {
						x.seen[key] = true
						x.states[w.n.ProvisionState] = true
						x.check(w)
						next = append(next, x.successors(w)...)
					}
				}
				level = next
			}
			for chore, row := range effects {
				if row.chore == nil {
					continue
				}
				if chore == clearMedium && base.interfaces["boot"] != "redfish-virtual-media" ||
					strings.HasPrefix(chore, "network.") && base.interfaces["network"] != "neutron" {
					continue
				}
				if !x.chores[chore] {
					t.Errorf("the chore %s was never pending", chore)
				}
			}
			t.Logf("%d situations in %d states, %d events, depth %d, all explored: %v", len(x.seen), len(x.states), x.events,
				depth-1, len(level) == 0)
		})
	}
}

var explored = []struct {
	name       string
	interfaces map[string]string
	fastTrack  bool
}{
	{"ramdisk", map[string]string{"deploy": "direct", "inspect": "agent", "rescue": "agent", "boot": "ipxe",
		"bios": "redfish", "firmware": "redfish"}, false},
	{"fast track", map[string]string{"deploy": "direct", "inspect": "agent", "rescue": "agent", "boot": "ipxe",
		"bios": "redfish", "firmware": "redfish", "network": "flat"}, true},
	{"boot medium", map[string]string{"deploy": "direct", "inspect": "agent", "rescue": "agent",
		"boot": "redfish-virtual-media", "bios": "redfish", "firmware": "redfish"}, false},
	{"neutron", map[string]string{"deploy": "direct", "inspect": "agent", "rescue": "agent", "boot": "ipxe",
		"network": "neutron"}, true},
	{"fake", map[string]string{"deploy": "fake", "inspect": "fake", "rescue": "fake", "boot": "fake", "bios": "fake",
		"firmware": "fake"}, false},
}

// world is a node, the one row it may have in the effects table, and the state of the machine and its surroundings.
type world struct {
	n       node.Node
	pending *node.Effect
	seen    bool // the agent was heard of lately
	dirty   bool // a tenant's data are on the disk
	trail   []string

	fastTrack bool // agents are kept, and deploys end with kexec

	network string // of a ramdisk, that Neutron has the machine's port in, as far as is known; "" for none
	entered bool   // a ramdisk's network was asked for, and not left since: an attach that fails may have done it
}

var exploreNow = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func start(interfaces map[string]string, state node.State, fastTrack bool) world {
	n := node.Node{
		UUID: "11111111-2222-4333-8444-555555555555", Driver: "redfish", ProvisionState: state, Revision: 1,
		TargetProvisionState: node.States[state].Target, Interfaces: interfaces,
		InstanceInfo: map[string]any{"image_source": "http://images/os.raw", "image_checksum": "00"},
	}
	if state.Class() == node.Failed {
		n.LastError = "an earlier run failed"
	}
	return world{n: n, dirty: state != node.Available, trail: []string{string(state)},
		fastTrack: fastTrack}
}

func (w world) facts(now time.Time) Facts {
	f := Facts{Settings: DefaultSettings(), EffectPending: w.pending != nil, LogsMissing: true,
		ReportsHardware: w.n.Interfaces["bios"] == "redfish", Offers: []node.StepOffer{
			{Interface: "bios", Step: "apply", Priority: map[node.Framework]int{node.CleanSteps: 0, node.DeploySteps: 0,
				node.ServiceSteps: 0}, NeedsNoRamdisk: true},
		}}
	if w.pending != nil && w.pending.Name == ShutDown {
		f.ShutDown = w.pending
	}
	f.Settings.FastTrack, f.Settings.Kexec, f.Settings.BootMedia = w.fastTrack, w.fastTrack, true
	if w.seen {
		f.AgentSeen = now
	}
	if Neutron(w.n) || Flat(w.n) {
		f.Settings.Neutron, f.Settings.InspectionNetwork = true, true
		f.Ports = []node.Port{w.port()}
	}
	return f
}

// key is the situation without irrelevant parts.
func (w world) key() string {
	var b strings.Builder
	n := w.n
	fmt.Fprintln(&b, n.ProvisionState, n.TargetProvisionState, n.PowerState, n.TargetPowerState, n.Maintenance, n.Fault,
		n.Agent.URL != "", n.Agent.Doubted,
		n.Deadline.IsZero(), w.seen, w.dirty, len(n.InstanceInfo), w.network, w.entered)
	if r := n.Run; r != nil {
		fmt.Fprintln(&b, r.Activity, r.Command != "", r.Task, r.Relisted, r.Rebooted, r.ByHand, r.NoRamdisk, r.AbortAfter,
			len(r.Listed), r.FirmwareStarts > 0, len(r.Versions) > 0)
		for _, s := range r.Left() {
			fmt.Fprintln(&b, s, s.InBand, s.Driver)
		}
	}
	if w.pending != nil {
		fmt.Fprintln(&b, "owes", w.pending.Name, string(w.pending.Args), n.Run != nil &&
			n.Run.Generation == w.pending.Generation)
	}
	return b.String()
}

// explorer counts, and complains.
type explorer struct {
	t      *testing.T
	seen   map[string]bool
	states map[node.State]bool
	chores map[string]bool // those that were owed
	events int
	now    time.Time
}

func (x *explorer) complain(w world, format string, args ...any) {
	x.t.Helper()
	x.t.Fatalf("%s\n  after: %s\n  node: %q power %q run %+v owed %+v", fmt.Sprintf(format, args...),
		strings.Join(w.trail, " | "), w.n.ProvisionState, w.n.PowerState, w.n.Run, w.pending)
}

// step lets one event happen; finish says that it is the outcome of the owed
// effect. ok is false when it was refused or changed nothing.
func (x *explorer) step(w world, name string, e Event, finish bool) (world, bool) {
	x.events++
	f := w.facts(x.now)
	if finish {
		f.EffectPending = true
	}
	c, err := Decide(w.n, f, e, x.now)
	var refused *node.Refusal
	if err != nil {
		if !errors.As(err, &refused) {
			x.complain(w, "event %s: %v", name, err)
		}
		return w, false
	}
	next := w
	next.trail = append(w.trail[:len(w.trail):len(w.trail)], name)
	if finish {
		next.pending = nil
	}
	if c == nil {
		return next, finish
	}
	if c.Finish != nil {
		next.pending = nil
	}
	if len(c.Effects) > 1 || len(c.Effects) == 1 && next.pending != nil {
		x.complain(next, "a second effect is owed: %+v", c.Effects)
	}
	next.n = *c.Save
	next.n.Revision++
	for _, p := range c.SavePorts {
		next.network = inNetwork(p)
	}
	if len(c.Effects) == 1 {
		next.pending = &c.Effects[0]
	}
	if (next.network != "" || next.entered) && len(c.Effects) == 1 && next.startsSystem() {
		x.complain(next, "the machine's own system is started in the network %q (entered: %v)", next.network, next.entered)
	}
	if len(c.Effects) == 1 {
		enters, _ := next.moves()
		next.entered = next.entered || enters
	}
	if cut(c.Effects) && w.interrupted() {
		x.complain(next, "power is cut during a step that must not be cut off")
	}
	if _, called := e.(AgentCalled); called {
		next.seen = true
	}
	if next.n.Agent.URL == "" {
		next.seen = false
	}
	return next, true
}

// cut reports whether a request is to cut the power. The plan's own power
// steps come between steps, never in the middle of one.
func cut(effects []node.Effect) bool {
	return len(effects) == 1 && (effects[0].Name == changePower || effects[0].Name == ShutDown) &&
		!strings.Contains(string(effects[0].Args), `"power on"`)
}

func (w world) interrupted() bool {
	return (&decision{n: w.n}).uninterruptible()
}

// check is the invariants.
func (x *explorer) check(w world) {
	n, r := w.n, w.n.Run
	fresh := len(w.trail) == 1 // placed in a state, not come to it
	if chore := w.pending != nil && effects[w.pending.Name].chore != nil; chore != (n.Chore != "") || chore &&
		n.Chore != w.pending.Name {
		x.complain(w, "has the chore %q on record", n.Chore)
	}
	x.chores[n.Chore] = true
	switch n.ProvisionState.Class() {
	case node.Working:
		if w.pending == nil && !fresh {
			x.complain(w, "works, and owes nothing: stuck")
		}
	case node.Waiting:
		if n.Deadline.IsZero() && !fresh { // a pending effect too: it may never be carried out
			x.complain(w, "waits without a deadline")
		}
	case node.Held:
		if !n.Deadline.IsZero() || r == nil && !fresh {
			x.complain(w, "is held, with a deadline or without a run")
		}
	case node.Stable, node.Failed:
		if idle := w.fastTrack && idleStates[n.ProvisionState]; r != nil || !n.Deadline.IsZero() && !idle {
			x.complain(w, "rests, with a run or a deadline")
		}
		if n.ProvisionState.Class() == node.Stable && w.pending != nil && effects[w.pending.Name].chore == nil && r == nil &&
			w.pending.Name != driverEffect {
			x.complain(w, "rests, and an effect is in flight")
		}
		if n.ProvisionState.Class() == node.Failed && n.LastError == "" && !fresh && w.pending == nil {
			x.complain(w, "has failed without a reason")
		}
	}
	if MediumOf(n) == MediumRamdisk && r == nil && w.pending == nil && !fresh {
		x.complain(w, "rests, with the ramdisk's medium in its drive")
	}
	if n.ProvisionState == node.Available && w.dirty && agentDeploy(n) {
		x.complain(w, "is offered with somebody's data on the disk")
	}
	if fresh {
		return
	}
	for _, m := range moods {
		x.comesToRest(w, m)
		x.now = exploreNow
	}
}

// mood is how the world is.
type mood struct {
	how     string
	works   bool
	lingers bool // agent and BMC report for ever that they are not done; the agent calls
}

var moods = []mood{{"the world works", true, false}, {"the world fails", false, false},
	{"the world lingers", true, true}}

// longest is how many events a run may take to its end, and lingering how much
// time goes by between two of them where nothing gets done: a step may take no
// more of them than StepTimeout allows.
const (
	longest   = 120
	lingering = 2 * time.Hour
)

// comesToRest goes on without an operator until nothing more happens.
func (x *explorer) comesToRest(w world, m mood) {
	for range longest {
		if m.lingers {
			x.now = x.now.Add(lingering)
		}
		switch {
		case w.pending != nil:
			w, _ = x.settle(w, m.outcome(w))
		case w.n.ProvisionState.Class() == node.Waiting:
			if e, ok := x.external(w, m.works); ok {
				w = e
				continue
			}
			w, _ = x.step(w, "deadline", Expired{}, false)
		default:
			return
		}
	}
	x.complain(w, "%s, and the node does not come to rest", m.how)
}

// external is the machine's turn: it calls.
func (x *explorer) external(w world, works bool) (world, bool) {
	s := w.n.Run.Current()
	switch {
	case !works || s == nil:
		return w, false
	case s.String() == waitData:
		return x.step(w, "data", inspectedEvent, false)
	}
	timed, _ := waitsFor(w.n.Run)
	next, ok := x.step(w, "heartbeat", heartbeat(w), false)
	return next, ok && !timed && (next.pending != nil || next.key() != w.key())
}

func heartbeat(w world) Event {
	url := w.n.Agent.URL
	if url == "" {
		url = "https://10.0.0.5:9999"
	}
	return AgentCalled{agentapi.Heartbeat{CallbackURL: url, AgentToken: "t", AgentVersion: "1"}}
}

var inspectedEvent = Inspected{
	Data: agentapi.Inspection{
		Inventory: agentapi.Inventory{Interfaces: []agentapi.Interface{{Name: "e", MACAddress: "52:54:00:00:00:01"}}},
	},
	Raw: json.RawMessage(`{}`),
}
