package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const (
	writeEvery = time.Second     // progress is written so often; boot stages at once
	writeTime  = 5 * time.Second // bounds a write
	writeBatch = 256             // nodes of one write
)

// Observations keep a leader's observations of machines in the database of a cluster, for the next leader. Nil keeps
// nothing.
type Observations struct {
	db     *store.Database
	log    *slog.Logger
	engine *engine.Engine
	wake   chan struct{}

	mu    sync.Mutex
	dirty map[string]bool // nodes to be written; true for at once
}

// NewObservations makes the observations of a term.
func NewObservations(db *store.Database, log *slog.Logger) *Observations {
	return &Observations{db: db, log: log, wake: make(chan struct{}, 1), dirty: map[string]bool{}}
}

// SetEngine sets the engine that makes the observations, before both run.
func (s *Observations) SetEngine(e *engine.Engine) {
	if s != nil {
		s.engine = e
		e.Watch(s.seen)
	}
}

// Recall returns a function that reads the observations of earlier leaders.
func (s *Observations) Recall() func(context.Context, string) (engine.Observation, error) {
	if s == nil {
		return nil
	}
	return func(ctx context.Context, uuid string) (seen engine.Observation, err error) {
		doc, err := s.db.Observation(ctx, uuid)
		if err != nil || doc == "" {
			return seen, err
		}
		if err := json.Unmarshal([]byte(doc), &seen); err != nil {
			return seen, fmt.Errorf("expected an object: %w", err)
		}
		return seen, nil
	}
}

// seen has the sight of a node written.
func (s *Observations) seen(uuid string, stage *engine.BootStage, _ *agentapi.Progress) {
	s.mu.Lock()
	s.dirty[uuid] = s.dirty[uuid] || stage != nil
	s.mu.Unlock()
	if stage != nil {
		select {
		case s.wake <- struct{}{}:
		default: // it will look
		}
	}
}

// Run writes until ctx ends. Then it writes the rest, if the leadership allows.
func (s *Observations) Run(ctx context.Context) {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		whole := false
		select {
		case <-ctx.Done():
			s.write(context.WithoutCancel(ctx), true)
			return
		case <-tick.C:
			whole = true
		case <-s.wake:
		}
		s.write(ctx, whole)
	}
}

// write writes the urgent nodes, or all.
func (s *Observations) write(ctx context.Context, whole bool) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	for {
		nodes := s.take(whole)
		if len(nodes) == 0 {
			return
		}
		if err := s.put(ctx, nodes); err != nil {
			s.requeue(nodes)
			if s.db.Ready() == nil && ctx.Err() == nil { // else the leadership is over
				s.log.Warn("observations of machines were not kept; tried again", "nodes", len(nodes), "err", err)
			}
			return
		}
	}
}

// take takes nodes out of the dirty ones.
func (s *Observations) take(whole bool) (nodes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uuid, now := range s.dirty {
		if len(nodes) == writeBatch {
			break
		}
		if whole || now {
			nodes = append(nodes, uuid)
			delete(s.dirty, uuid)
		}
	}
	return nodes
}

// requeue puts nodes back: they are written with the next batch that is not urgent.
func (s *Observations) requeue(nodes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uuid := range nodes {
		if _, seen := s.dirty[uuid]; !seen {
			s.dirty[uuid] = false
		}
	}
}

func (s *Observations) put(ctx context.Context, nodes []string) error {
	rows := make([]store.Observation, 0, len(nodes))
	for _, uuid := range nodes {
		n, err := s.engine.Node(ctx, uuid)
		if errors.Is(err, node.ErrNotFound) {
			continue // it is gone
		}
		if err != nil {
			return err
		}
		if err := s.engine.Recall(ctx, n); err != nil { // else earlier observations would be overwritten
			return err
		}
		doc, err := json.Marshal(s.engine.Observation(uuid))
		if err != nil {
			return err
		}
		rows = append(rows, store.Observation{Node: uuid, Doc: string(doc)})
	}
	return s.db.PutObservations(ctx, rows)
}
