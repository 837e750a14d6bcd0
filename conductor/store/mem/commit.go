package mem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// change is a Commit under way. Its steps so far can be undone.
type change struct {
	s    *Store
	undo []func()
}

func (c *change) did(undo func()) { c.undo = append(c.undo, undo) }

func (c *change) rollback() {
	for _, undo := range slices.Backward(c.undo) {
		undo()
	}
}

// Commit writes a change.
func (s *Store) Commit(ctx context.Context, n node.Change) (node.Node, error) {
	if err := s.lock(ctx); err != nil {
		return node.Node{}, err
	}
	defer s.mu.Unlock()
	c := &change{s: s}
	saved, err := c.apply(&n)
	if err != nil {
		c.rollback()
		return node.Node{}, err
	}
	return saved, s.lost
}

func (c *change) apply(n *node.Change) (node.Node, error) {
	var saved node.Node
	if n.Finish != nil {
		held, err := c.s.held(n.Finish)
		if err != nil {
			return saved, err
		}
		c.dropEffect(held)
	}
	if err := c.node(n, &saved); err != nil {
		return saved, err
	}
	if err := c.allocation(n, saved.UUID); err != nil {
		return saved, err
	}
	if err := putAll(c, c.s.portgroups, n.SavePortgroups...); err != nil {
		return saved, err
	}
	if err := c.ports(n); err != nil {
		return saved, err
	}
	if err := c.volumes(n); err != nil {
		return saved, err
	}
	if n.Inspected != nil {
		c.inspected(saved.UUID, *n.Inspected)
	}
	if n.HardwareReport != nil {
		if err := c.setHardwareReport(saved.UUID, *n.HardwareReport); err != nil {
			return saved, err
		}
	}
	if err := c.eraseReport(n.PutEraseReport); err != nil {
		return saved, err
	}
	if n.Hurry {
		c.hurry(saved.UUID)
	}
	for _, e := range n.Effects {
		if err := c.insertEffect(e); err != nil {
			return saved, err
		}
	}
	for _, h := range n.History {
		if err := c.record(h); err != nil {
			return saved, err
		}
	}
	for _, e := range n.Events {
		c.putEvent(e)
	}
	return saved, nil
}

func (c *change) node(n *node.Change, saved *node.Node) error {
	switch {
	case n.Insert != nil && (n.Save != nil || n.Delete != "") || n.Save != nil && n.Delete != "":
		return errors.New("a change may hold one of Insert, Save and Delete, not several")
	case (n.Inspected != nil || n.HardwareReport != nil) && n.Insert == nil && n.Save == nil:
		return errors.New("a change with inspection data or a hardware report must save its node")
	case n.Insert != nil:
		*saved = *n.Insert
		saved.Revision = 1
		if c.s.nodes.rows[saved.UUID] != nil {
			return node.Refuse(node.Conflict, "A node with UUID %s already exists.", saved.UUID)
		}
		return c.putNode(saved)
	case n.Save != nil:
		*saved = *n.Save
		saved.Revision++
		return c.save(saved)
	case n.Delete != "":
		return c.deleteNode(n.Delete, n.DeleteAt)
	}
	return nil
}

func (c *change) save(n *node.Node) error {
	old := c.s.nodes.rows[n.UUID]
	switch {
	case old == nil:
		return noNode(n.UUID)
	case old.v.Revision != n.Revision-1, !old.v.CreatedAt.Equal(n.CreatedAt): // enrolled again under its UUID
		return fmt.Errorf("save node %s at revision %d: %w: read it again", n.UUID, n.Revision-1, node.ErrStale)
	}
	return c.putNode(n)
}

func (c *change) putNode(n *node.Node) error {
	machine, holds := n.HeldMachine()
	if old := c.s.nodes.rows[n.UUID]; old != nil && old.v.MachineKey() == n.MachineKey() {
		holds = false // it was its machine before
	}
	for uuid, r := range c.s.nodes.rows {
		other, held := r.v.HeldMachine()
		switch {
		case uuid == n.UUID:
		case holds && held && machine.Same(other):
			return &node.MachineTakenError{Machine: machine, Other: uuid}
		case n.Name != "" && r.v.Name == n.Name:
			return node.Refuse(node.Conflict, "A node with name %s already exists.", n.Name)
		case n.InstanceUUID != "" && r.v.InstanceUUID == n.InstanceUUID:
			return node.Refuse(node.Conflict, "Instance %s is already associated with a node, "+
				"it cannot be associated with this other node %s", n.InstanceUUID, n.UUID)
		}
	}
	if err := c.s.unheld("nodes", "Chassis", n.ChassisUUID); err != nil {
		return err
	}
	kept, err := sealed(*n)
	if err != nil {
		return err
	}
	c.did(c.s.nodes.put(n.UUID, kept))
	return nil
}

func (c *change) deleteNode(uuid string, revision int64) error {
	s := c.s
	old := s.nodes.rows[uuid]
	switch {
	case old == nil:
		return noNode(uuid)
	case revision != 0 && old.v.Revision != revision:
		return fmt.Errorf("delete node %s at revision %d: %w: read it again", uuid, revision, node.ErrStale)
	}
	for id, p := range s.ports.rows {
		if p.v.NodeUUID == uuid {
			c.did(s.ports.drop(id))
		}
	}
	for _, drop := range s.cascades {
		c.undo = append(c.undo, drop(uuid)...)
	}
	if e := s.pending[uuid]; e != nil {
		c.dropEffect(e)
	}
	if old, ok := s.found[uuid]; ok {
		delete(s.found, uuid)
		c.did(func() { s.found[uuid] = old })
	}
	if old, ok := s.hardware[uuid]; ok {
		delete(s.hardware, uuid)
		c.did(func() { s.hardware[uuid] = old })
	}
	lines := s.history[uuid]
	delete(s.history, uuid)
	c.did(func() { s.history[uuid] = lines })
	c.did(s.nodes.drop(uuid))
	return nil
}

// allocation parts the saved node, if any, from an allocation, and puts another.
func (c *change) allocation(n *node.Change, nodeUUID string) error {
	kept := c.s.allocations
	if old := kept.rows[n.DropAllocation]; old != nil {
		if old.v.NodeUUID != nodeUUID {
			return fmt.Errorf("drop allocation %s of node %q: %w: read it again", n.DropAllocation, nodeUUID, node.ErrStale)
		}
		c.did(kept.drop(n.DropAllocation))
	}
	if n.PutAllocation == nil {
		return nil
	}
	return putAll(c, kept, *n.PutAllocation)
}

// eraseReport keeps a report, and the newest others of its node; nil is none.
func (c *change) eraseReport(r *node.EraseReport) error {
	if r == nil {
		return nil
	}
	kept, v := c.s.eraseReports, *r
	undo, err := kept.insert(&v)
	if err != nil {
		return err
	}
	c.did(undo)
	var ids []string
	for uuid, row := range kept.rows {
		if row.v.NodeUUID == v.NodeUUID {
			ids = append(ids, uuid)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(kept.rows[b].id, kept.rows[a].id) })
	for _, old := range ids[min(len(ids), node.EraseReportsKept):] {
		c.did(kept.drop(old))
	}
	return nil
}

func (c *change) ports(n *node.Change) error {
	for _, uuid := range n.DropPorts {
		if c.s.ports.rows[uuid] == nil {
			return noPort(uuid)
		}
		c.did(c.s.ports.drop(uuid))
	}
	for _, p := range n.SavePorts {
		if c.s.ports.rows[p.UUID] == nil {
			return fmt.Errorf("save port %s, which is gone: %w: read it again", p.UUID, node.ErrStale)
		}
		if err := c.putPort(p); err != nil {
			return err
		}
	}
	for _, p := range n.AddPorts {
		if c.s.ports.rows[p.UUID] != nil {
			return node.Refuse(node.Conflict, "%s", node.Exists("port", "UUID", p.UUID))
		}
		if err := c.putPort(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) putPort(p node.Port) error {
	for uuid, r := range c.s.ports.rows {
		switch {
		case uuid == p.UUID:
		case r.v.Address == p.Address:
			return node.Refuse(node.Conflict, "A port with MAC address %s already exists.", p.Address)
		case p.Name != "" && r.v.Name == p.Name:
			return node.Refuse(node.Conflict, "A port with name %s already exists.", p.Name)
		}
	}
	if c.s.nodes.rows[p.NodeUUID] == nil {
		return noNode(p.NodeUUID)
	}
	if err := c.s.unheld("ports", "Portgroup", p.PortgroupUUID); err != nil {
		return err
	}
	kept, err := sealed(p)
	if err != nil {
		return err
	}
	c.did(c.s.ports.put(p.UUID, kept))
	return nil
}

func (c *change) inspected(uuid string, i node.Inspected) {
	s := c.s
	old, had := s.found[uuid]
	s.found[uuid] = node.Inspected{Inventory: rawCopy(i.Inventory), PluginData: rawCopy(i.PluginData)}
	c.did(func() {
		delete(s.found, uuid)
		if had {
			s.found[uuid] = old
		}
	})
}

func (c *change) setHardwareReport(uuid string, t node.HardwareReport) error {
	kept, err := sealed(t)
	if err != nil {
		return err
	}
	s := c.s
	old, had := s.hardware[uuid]
	s.hardware[uuid] = kept
	c.did(func() {
		delete(s.hardware, uuid)
		if had {
			s.hardware[uuid] = old
		}
	})
	return nil
}

func (c *change) record(h node.HistoryEntry) error {
	s := c.s
	if s.nodes.rows[h.NodeUUID] == nil {
		return noNode(h.NodeUUID)
	}
	kept, err := sealed(h)
	if err != nil {
		return err
	}
	old := s.history[h.NodeUUID]
	c.did(func() { s.history[h.NodeUUID] = old })
	all := append(slices.Clone(old), kept)
	s.history[h.NodeUUID] = all[max(0, len(all)-store.HistoryKept):]
	return nil
}

func rawCopy(r json.RawMessage) json.RawMessage {
	if len(r) == 0 {
		return nil
	}
	return slices.Clone(r)
}
