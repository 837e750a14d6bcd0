// Package mem is a store in memory, for simulations and for tests that need a store. It behaves exactly as the SQLite
// store: storetest and a property test compare them. It fails on command, as a refused write does, or a write that took
// effect although its answer was lost.
//
// It must not be used for real machines: nothing survives the process. It shares no code with the SQLite store, so that
// each checks the other. It is also faster. On SQLite, without syncs and from a copied template, the engine's tests
// take 24 seconds of CPU time instead of 6. The reconciler's take 51 instead of 20.
package mem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Store is a store in memory. Its methods are documented in store.Store.
type Store struct {
	mu       sync.Mutex
	closed   bool
	faults   []*Fault
	lost     error // the fault that this call meets at its end
	nodes    table[node.Node]
	ports    table[node.Port]
	effects  map[int64]*node.Effect
	pending  map[string]*node.Effect // by node UUID
	lastID   int64
	history  map[string][]node.HistoryEntry
	found    map[string]node.Inspected
	hardware map[string]node.HardwareReport
	leases   map[string]node.Lease
	declines []node.Decline
	onHold   node.RestoreHold
	objects  documents
	events   eventLog
	audit    []node.AuditEntry
	audited  int64 // entries ever written
	cuts     map[string]node.AuditCut

	catalogs node.Catalogs
	cascades []func(nodeUUID string) (undo []func()) // of the catalogs, when a node goes
	holders  map[string]func(uuid string) bool       // by the kind they hold: is there such a record

	// The catalogs that changes write as well.
	allocations  *catalog[node.Allocation, *node.Allocation]
	connectors   *catalog[node.VolumeConnector, *node.VolumeConnector]
	targets      *catalog[node.VolumeTarget, *node.VolumeTarget]
	portgroups   *catalog[node.Portgroup, *node.Portgroup]
	eraseReports *catalog[node.EraseReport, *node.EraseReport]
}

// New makes an empty store.
func New() *Store {
	s := &Store{
		nodes: newTable[node.Node](), ports: newTable[node.Port](),
		effects: map[int64]*node.Effect{}, pending: map[string]*node.Effect{},
		history: map[string][]node.HistoryEntry{}, found: map[string]node.Inspected{},
		hardware: map[string]node.HardwareReport{}, leases: map[string]node.Lease{}, cuts: map[string]node.AuditCut{},
		holders: map[string]func(string) bool{}, objects: documents{rows: map[objects.Key]objects.Row{}},
	}
	s.catalogs = newCatalogs(s)
	return s
}

var errClosed = errors.New("the store is closed")

// lock begins a call; the caller unlocks. A context that has ended, a closed store or a fault refuses it.
func (s *Store) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	err := s.fault()
	if s.closed {
		err = errClosed
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// Close refuses everything from now on.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// table keeps rows by UUID and in the order of creation.
type table[T any] struct {
	rows map[string]*row[T]
	last int64
}

type row[T any] struct {
	id int64
	v  T
}

func newTable[T any]() table[T] { return table[T]{rows: map[string]*row[T]{}} }

// put inserts or replaces, and returns how to undo that.
func (t *table[T]) put(uuid string, v T) (undo func()) {
	old := t.rows[uuid]
	if old != nil {
		t.rows[uuid] = &row[T]{old.id, v}
		return func() { t.rows[uuid] = old }
	}
	t.last++
	t.rows[uuid] = &row[T]{t.last, v}
	return func() { delete(t.rows, uuid) }
}

func (t *table[T]) drop(uuid string) (undo func()) {
	old := t.rows[uuid]
	delete(t.rows, uuid)
	return func() { t.rows[uuid] = old }
}

// sealed is a record in its kept form: copied through JSON. The SQLite store keeps JSON, so values that JSON loses must
// be lost here, too.
func sealed[T any](v T) (T, error) {
	var c T
	doc, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(doc, &c)
	}
	if err != nil {
		return c, fmt.Errorf("copy a %T: %w", v, err)
	}
	return c, nil
}

// micro cuts a time to the precision of the stores.
func micro(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}

func noNode(ref string) error {
	return node.Refuse(node.NotFound, "Node %s could not be found.", ref)
}

var _ store.Store = (*Store)(nil)
