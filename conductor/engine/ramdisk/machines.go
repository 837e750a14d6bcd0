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

// machines indexes all nodes by machine UUID and BMC address, so that the call of an unknown machine does not read a
// hundred thousand nodes. It reads the nodes at the first call, and follows each save from then on.
type machines struct {
	filling sync.Mutex // held while nodes are read

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

// fill reads all nodes, once. It reads a node again if its saves were noted out of order. Saves do not wait for it: a
// node that is saved meanwhile is read again, too.
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
	return m.refresh(ctx, store)
}

// list reads all nodes. An unreadable node is an error: a machine that seems unknown may belong to it.
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

// refresh reads the nodes that are in doubt, until none is.
func (m *machines) refresh(ctx context.Context, store core.Store) error {
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

// doubt notes that a node must be read again, if the nodes are not all read yet or this one is being read. m.mu is
// held.
func (m *machines) doubt(uuid string) bool {
	if m.nodes == nil || m.listed && !m.reading[uuid] {
		return m.nodes == nil // no call yet
	}
	m.doubted[uuid] = true
	return true
}

// Committed brings the index up to a change.
func (m *machines) Committed(_ context.Context, c *node.Committed) {
	if c.Delete != "" {
		m.deleted(c.Delete)
	}
	if c.Wrote() || c.Read {
		m.saved(c.Saved, c.Insert != nil)
	}
}

// saved notes a node as it was saved; made is true for a new node. Saves may be noted in another order than they were
// made. A save of an unknown node may be late, after its deletion, or early, before its creation is noted. Only the
// store knows: the next call reads the node.
func (m *machines) saved(n node.Node, made bool) {
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

// deleted notes that a node is gone.
func (m *machines) deleted(uuid string) {
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

// at returns the nodes with a BMC at a host.
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

// like returns the nodes that may be the machine with this data: first the nodes with its DMI UUID, then the nodes with
// its BMC's address. The address decides only if either side lacks a UUID, because some vendors give one address to all
// BMCs.
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

// undecided returns the number of discovered nodes that no operator has decided on.
func (m *machines) undecided() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}
