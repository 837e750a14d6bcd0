package core

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Observation is the state of a machine that conductors see and do not write with its node: the stages of its latest
// boot, and the progress of its latest step.
type Observation struct {
	Stages   []BootStage       `json:"stages,omitempty"`
	Progress *ObservedProgress `json:"progress,omitempty"`
}

// ObservedProgress is the progress of a step, with the values from which its rate is computed.
type ObservedProgress struct {
	Last  agentapi.Progress `json:"last"`
	First int64             `json:"first"` // bytes when the stage was first heard of
	Since time.Time         `json:"since"`
	Moved time.Time         `json:"moved"` // when more was done than before
	At    time.Time         `json:"at"`
}

// Recall restores the boot stages and progress that earlier conductors saw of a node's machine, once for each node.
func (e *Core) Recall(ctx context.Context, n node.Node) error {
	if e.Observations == nil || e.Memory.recalls(n.UUID) {
		return nil
	}
	s, err := e.Observations(ctx, n.UUID)
	if err != nil {
		return fmt.Errorf("observations of node %s: %w", n.UUID, err)
	}
	e.Memory.recall(n, s)
	return nil
}

// Observation returns the state of a machine that the next conductor needs.
func (e *Core) Observation(uuid string) (s Observation) {
	e.Memory.mu.Lock()
	defer e.Memory.mu.Unlock()
	r, ok := e.Memory.nodes[uuid]
	if !ok {
		return s
	}
	s.Stages = append(s.Stages, r.stages...)
	if !r.at.IsZero() {
		s.Progress = &ObservedProgress{Last: r.last, First: r.first, Since: r.since, Moved: r.moved, At: r.at}
	}
	return s
}

// recalls reports whether nothing more can be brought back.
func (m *memory) recalls(uuid string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.nodes[uuid]
	return ok && r.recalled
}

// recall puts the stages that were seen before in front of the current ones.
func (m *memory) recall(n node.Node, s Observation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(n.UUID)
	if r.recalled { // meanwhile
		return
	}
	r.recalled = true
	if k := len(s.Stages); k > 0 && len(r.stages) > 0 && s.Stages[k-1].Name == r.stages[0].Name {
		r.stages = r.stages[1:]
	}
	all := append(s.Stages, r.stages...)
	r.stages = all[max(0, len(all)-maxStages):]
	if p := s.Progress; p != nil && r.at.IsZero() && n.Run != nil && p.At.After(n.Run.Since) {
		r.progress = progress{last: p.Last, first: p.First, since: p.Since, moved: p.Moved, at: p.At}
	}
}
