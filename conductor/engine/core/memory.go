package core

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// memory is the state of nodes that a conductor does not write with them: the latest heartbeat, and the progress of a
// boot or a step. It is empty after a restart. Nothing is lost but sight, which the next conductor of a cluster
// recalls.
type memory struct {
	mu     sync.Mutex
	live   func(uuid string, stage *BootStage, progress *agentapi.Progress)
	nodes  map[string]*remembered
	states map[owned]int // number of nodes in each; nodes at rest since before this process are not counted
}

func newMemory(live func(string, *BootStage, *agentapi.Progress)) memory {
	return memory{live: live, nodes: map[string]*remembered{}, states: map[owned]int{}}
}

type remembered struct {
	agent         node.Agent      // as saved last
	state         node.State      // likewise
	owner         string          // likewise
	group         string          // likewise
	rev           int64           // the revision both were saved with
	known         bool            // they are filled in
	cares         bool            // a heartbeat would change something
	effectPending bool            // an effect is under way
	effectRev     int64           // the revision that began or ended it
	issued        bool            // the token was given out by this process
	issuing       bool            // it is being given out right now
	refused       map[string]bool // keys of refusals in this boot, so that each is reported once
	seen          time.Time
	beatRefused   time.Time           // of the last heartbeat, if it was
	pending       *agentapi.Heartbeat // came while an effect was under way
	stages        []BootStage
	off           time.Time // when a power off was requested after the stages; zero for not
	recalled      bool      // the stages and progress that earlier conductors saw are included, or no longer matter
	progress
}

// BootStage is a point that a machine has reached on its way into the ramdisk.
type BootStage struct {
	Name   string    `json:"name"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// ByRequest is the detail of a stage that a user requested.
const ByRequest = "by request"

// progress is how far the running step has come.
type progress struct {
	last  agentapi.Progress
	first int64 // bytes when the stage was first heard of
	since time.Time
	moved time.Time // when more was done than before
	at    time.Time
}

func (m *memory) of(uuid string) *remembered {
	r, ok := m.nodes[uuid]
	if !ok {
		r = &remembered{}
		m.nodes[uuid] = r
	}
	return r
}

// effectChange is the effect of a save on the node's pending effect.
type effectChange int

const (
	effectUnchanged effectChange = iota
	effectAdded
	effectEnded
)

func effectChangeOf(c *node.Change) effectChange {
	switch {
	case len(c.Effects) > 0:
		return effectAdded
	case c.Finish != nil:
		return effectEnded
	}
	return effectUnchanged
}

// saved notes a node as it was saved. When an effect has ended, it returns the heartbeat that waited for that.
func (m *memory) saved(n node.Node, d effectChange) *agentapi.Heartbeat {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(n.UUID)
	// even if a later save, which left the pending effect alone, was noted first
	if d != effectUnchanged && n.Revision >= r.effectRev {
		r.effectPending, r.effectRev = d == effectAdded, n.Revision
	}
	if n.Revision >= r.rev {
		m.count(r, -1)
		r.take(n)
		m.count(r, 1)
	}
	if r.effectPending || r.pending == nil {
		return nil
	}
	p := r.pending
	r.pending = nil
	return p
}

// count counts a node in the state it was saved in.
func (m *memory) count(r *remembered, by int) {
	if r.known {
		m.states[owned{r.group, r.owner, r.state}] += by
	}
}

// owned is a state of a project's nodes in a conductor group; owner is empty for nodes without a project.
type owned struct {
	group string
	owner string
	state node.State
}

// counts returns the number of nodes in each state, by owner; of one conductor group, or with nil of all. It includes
// all nodes at work or waiting, because Recover has read them.
func (m *memory) counts(group *string) map[string]map[node.State]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	by := map[string]map[node.State]int{}
	for k, n := range m.states {
		if group != nil && k.group != *group {
			continue
		}
		if by[k.owner] == nil {
			by[k.owner] = map[node.State]int{}
		}
		by[k.owner][k.state] += n
	}
	return by
}

// CountUnowned returns the number of nodes without an owner in each state. Nodes in stable states are not counted until
// this process saves them.
func (e *Core) CountUnowned() map[node.State]int { return e.Memory.counts(nil)[""] }

// take notes the saved fields of a node.
func (r *remembered) take(n node.Node) {
	adopts := r.agent.Token == "" && r.agent.WordHash != "" && r.agent.WordHash == n.Agent.WordHash && n.Agent.URL != ""
	if (n.Agent.Token != r.agent.Token || n.Agent.Token == "") && !adopts { // another boot
		r.seen, r.beatRefused, r.pending, r.progress = time.Time{}, time.Time{}, nil, progress{}
		if n.Agent.Token == "" {
			r.issued = false
		}
		if n.Agent.WordHash != r.agent.WordHash || r.agent.Token != "" {
			r.refused = nil
		}
	}
	r.agent, r.state, r.owner, r.rev, r.known = n.Agent, n.ProvisionState, n.Owner, n.Revision, true
	r.group = n.ConductorGroup
	r.cares = n.Run != nil && n.ProvisionState.Class() == node.Waiting
	if n.Run == nil {
		r.progress = progress{}
	}
}

// Beat takes a heartbeat: known is false when this node's agent is not in
// memory yet, act is true when the engine must look at it.
func (m *memory) Beat(uuid string, hb agentapi.Heartbeat, now time.Time) (known, act bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.nodes[uuid]
	if !ok || !r.known {
		return false, false, nil
	}
	if word := r.agent.Token == "" && r.agent.IsWord(hb.AgentToken); !word &&
		(r.agent.Token == "" || !SameToken(r.agent.Token, hb.AgentToken)) {
		r.beatRefused = now // no boot stage: any sender can cause one
		return true, false, node.Refuse(node.Invalid, "Invalid or missing agent token received.")
	}
	if r.agent.URL != "" && r.agent.URL != hb.CallbackURL {
		return true, true, nil // the engine words the error
	}
	r.seen, r.beatRefused = now, time.Time{}
	if r.effectPending {
		r.pending = &hb
		return true, false, nil
	}
	fresh := r.agent.URL != hb.CallbackURL || r.agent.VerifyCA != hb.AgentVerifyCA || r.agent.Version != hb.AgentVersion
	return true, fresh || r.cares, nil
}

// facts fills in the facts about a node's machine that decisions may use.
func (m *memory) facts(uuid string, f *plan.Facts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.nodes[uuid]
	if !ok {
		return
	}
	f.AgentSeen = r.seen
	if k := len(r.stages); k > 0 {
		s := r.stages[k-1]
		f.BootStage = fmt.Sprintf("%s at %s", s.Name, s.At.UTC().Format("15:04:05"))
		f.Boot = plan.Boot{Stage: s.Name, At: s.At}
	}
	if f.Progressed = r.moved; r.moved.IsZero() {
		return
	}
	done := fmt.Sprint(r.last.Done)
	if r.last.Total > 0 {
		done += fmt.Sprintf(" of %d", r.last.Total)
	}
	f.Progress = fmt.Sprintf("%s, %s: %s at %s", r.last.Step, r.last.Stage, done, r.moved.UTC().Format("15:04:05"))
}

// maxStages is how many stages are kept of one boot: the latest.
const maxStages = 32

// Stage records a boot stage unless it is the last one again. fresh begins a
// new boot.
func (m *memory) Stage(uuid string, s BootStage, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(uuid)
	if fresh {
		r.stages, r.recalled, r.off = nil, true, time.Time{}
	}
	if k := len(r.stages); k > 0 && r.stages[k-1].Name == s.Name {
		return
	}
	r.stages = append(r.stages[max(0, len(r.stages)-maxStages+1):], s)
	m.live(uuid, &s, nil)
}

// SwitchedOff notes a requested power off: the stages seen until then belong to a boot that is over.
func (m *memory) SwitchedOff(uuid string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(uuid).off = at
}

// bootFiles are the stages that only firmware and its boot loader reach, and never a running system.
var bootFiles = []string{"tftp boot file", "http boot file", "ipxe script", "kernel", "ramdisk"}

// BootedSince reports whether a machine has begun to boot from the network since a time.
func (m *memory) BootedSince(uuid string, since time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.nodes[uuid]
	return ok && slices.ContainsFunc(r.stages, func(s BootStage) bool {
		return s.At.After(since) && slices.Contains(bootFiles, s.Name)
	})
}

func (m *memory) Report(uuid string, p agentapi.Progress, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(uuid)
	another := r.last.Step != p.Step || r.last.Stage != p.Stage
	if another || p.Done < r.last.Done {
		r.first, r.since = p.Done, now
	}
	if another || p.Done > r.last.Done {
		r.moved = now
	}
	r.last, r.at = p, now
	m.live(uuid, nil, &p)
}

// Token returns the token a report must carry, "" when there is none.
func (m *memory) Token(uuid string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.nodes[uuid]
	if !ok || !r.known {
		return "", false
	}
	return r.agent.Token, true
}

func (m *memory) forget(uuid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.nodes[uuid]; ok {
		m.count(r, -1)
	}
	delete(m.nodes, uuid)
}

// Issue begins to give out a token; ok is false while another lookup does so. The caller passes to end whether the
// token was given out.
func (m *memory) Issue(uuid string) (end func(out bool), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(uuid)
	if r.issuing {
		return nil, false
	}
	r.issuing = true
	return func(out bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		r.issuing = false
		r.issued = r.issued || out
	}, true
}

// First reports whether something is refused for the first time in this boot.
func (m *memory) First(uuid, what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(uuid)
	if r.refused[what] {
		return false
	}
	if r.refused == nil {
		r.refused = map[string]bool{}
	}
	r.refused[what] = true
	return true
}

func (m *memory) WasIssued(uuid string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.nodes[uuid]
	return ok && r.issued
}

// SameToken compares two tokens in constant time.
func SameToken(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
