package ramdisk

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// machines knows all nodes by what a machine nobody has enrolled may have in common
// with them: strangers call with that, and nobody reads a hundred thousand nodes for
// a stranger. It reads them when it is first asked, and follows each save from then on.
type machines struct {
	filling sync.Mutex // held by whoever reads nodes

	mu       sync.Mutex
	listed   bool            // nodes has all of them
	doubted  map[string]bool // nodes of which only the store knows how they are
	reading  map[string]bool // of these, the ones that are being read
	nodes    map[string]machine
	bySystem map[string]map[string]bool // nodes by the UUID of their machine: see node.SystemKey
	byBMC    map[string]map[string]bool // nodes by where their BMC is: see node.BMCHosts
	open     int                        // undecided ones
}

// machine is one node.
type machine struct {
	revision  int64
	system    string
	bmcs      []string
	undecided bool
}

// machinePage bounds how many nodes are in memory at a time while all are read.
const machinePage = 500

// fill reads all nodes, once, and again those whose saves were noted out of order. Saves do not wait for it: a node
// that is saved meanwhile is read again.
func (m *machines) fill(ctx context.Context, store core.Store) error {
	m.filling.Lock()
	defer m.filling.Unlock()
	m.mu.Lock()
	listed := m.listed
	if !listed {
		m.doubted, m.nodes, m.bySystem = map[string]bool{}, map[string]machine{}, map[string]map[string]bool{}
		m.byBMC, m.open = map[string]map[string]bool{}, 0
	}
	m.mu.Unlock()
	if !listed {
		if err := m.list(ctx, store); err != nil {
			return err
		}
	}
	return m.settle(ctx, store)
}

// list reads all nodes. One that cannot be read is an error: a machine that seems unknown may be its.
func (m *machines) list(ctx context.Context, store core.Store) error {
	q := node.Query{WithChildren: true, Limit: machinePage}
	for {
		nodes, err := store.Nodes(ctx, q)
		if err != nil {
			return err
		}
		m.mu.Lock()
		for _, n := range nodes {
			m.put(n)
		}
		m.mu.Unlock()
		if len(nodes) < q.Limit {
			return nil
		}
		q.Marker = nodes[len(nodes)-1].UUID
	}
}

// settle reads the nodes that are in doubt, until none is.
func (m *machines) settle(ctx context.Context, store core.Store) error {
	for {
		m.mu.Lock()
		if len(m.doubted) == 0 {
			m.listed, m.reading = true, nil
			m.mu.Unlock()
			return nil
		}
		now := m.doubted
		m.doubted, m.reading = map[string]bool{}, now
		m.mu.Unlock()
		for uuid := range now {
			n, err := store.Node(ctx, uuid)
			if err != nil && !errors.Is(err, node.ErrNotFound) {
				m.mu.Lock()
				maps.Copy(m.doubted, now)
				m.mu.Unlock()
				return err
			}
			m.mu.Lock()
			m.drop(uuid)
			if err == nil {
				m.put(n)
			}
			m.mu.Unlock()
		}
	}
}

// doubt takes note that a node is to be read again, where all were not read yet or it is being read. m.mu is held.
func (m *machines) doubt(uuid string) bool {
	if m.nodes == nil || m.listed && !m.reading[uuid] {
		return m.nodes == nil // nobody has asked yet
	}
	m.doubted[uuid] = true
	return true
}

// Saved takes note of a node as it was saved; made says that it was not there before.
// Saves may be noted in another order than they were made. One of a node that is not
// known is either late, of a node that is gone by now, or early, of one whose making is
// still to be noted: only the store knows, and is read by whoever asks next.
func (m *machines) Saved(n node.Node, made bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is, known := m.nodes[n.UUID]
	switch {
	case m.doubt(n.UUID):
	case !known && !made:
		m.doubted[n.UUID] = true
	case is.revision <= n.Revision:
		m.drop(n.UUID)
		m.put(n)
	}
}

// Read takes note of a node that was read for the first time.
func (m *machines) Read(n node.Node) { m.Saved(n, false) }

// Deleted takes note that a node is gone.
func (m *machines) Deleted(uuid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.doubt(uuid) {
		m.drop(uuid)
	}
}

func (m *machines) put(n node.Node) {
	k := machine{revision: n.Revision, system: node.SystemKey(plan.SystemUUID(n)), bmcs: n.BMCHosts(),
		undecided: plan.Undecided(n)}
	m.nodes[n.UUID] = k
	if k.system != "" {
		into(m.bySystem, k.system)[n.UUID] = true
	}
	for _, a := range k.bmcs {
		into(m.byBMC, a)[n.UUID] = true
	}
	if k.undecided {
		m.open++
	}
}

// into is the set at a key, made when it is not there yet.
func into(sets map[string]map[string]bool, key string) map[string]bool {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	return sets[key]
}

func (m *machines) drop(uuid string) {
	k, known := m.nodes[uuid]
	if !known {
		return
	}
	delete(m.nodes, uuid)
	if delete(m.bySystem[k.system], uuid); len(m.bySystem[k.system]) == 0 {
		delete(m.bySystem, k.system)
	}
	for _, a := range k.bmcs {
		if delete(m.byBMC[a], uuid); len(m.byBMC[a]) == 0 {
			delete(m.byBMC, a)
		}
	}
	if k.undecided {
		m.open--
	}
}

// at are the nodes whose BMC is at a host.
func (m *machines) at(host string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.byBMC[host]))
}

// of are the nodes of a system.
func (m *machines) of(uuid string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.bySystem[node.SystemKey(uuid)]))
}

// like are the nodes that may be the machine with this data: those that DMI
// calls so, then those with its BMC's address, which is all there is to go by
// where either side was not told a UUID (some vendors give one address to all).
func (m *machines) like(data agentapi.Inspection) (uuids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	system := node.SystemKey(data.SystemUUID)
	if system != "" {
		uuids = slices.Sorted(maps.Keys(m.bySystem[system]))
	}
	for _, a := range reportedAddresses(data.Inventory) {
		for uuid := range m.byBMC[a.String()] {
			if system == "" || m.nodes[uuid].system == "" {
				uuids = append(uuids, uuid)
			}
		}
	}
	return uuids
}

// undecided is how many discovered nodes nobody has decided on.
func (m *machines) undecided() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}
