package mem

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Node finds a node by UUID or name.
func (s *Store) Node(ctx context.Context, ref string) (node.Node, error) {
	if err := s.lock(ctx); err != nil {
		return node.Node{}, err
	}
	defer s.mu.Unlock()
	if r := s.nodes.rows[ref]; r != nil {
		return clone(r.v), nil
	}
	for _, r := range s.nodes.rows {
		if ref != "" && r.v.Name == ref {
			return clone(r.v), nil
		}
	}
	return node.Node{}, noNode(ref)
}

// NodeByAddress returns the first port with an address, and its node.
func (s *Store) NodeByAddress(ctx context.Context, address string) (node.Node, node.Port, error) {
	ports, err := s.Ports(ctx, node.PortQuery{Address: address})
	if err == nil && len(ports) == 0 {
		err = node.Refuse(node.NotFound, "No port has the address %s.", address)
	}
	if err != nil {
		return node.Node{}, node.Port{}, err
	}
	n, err := s.Node(ctx, ports[0].NodeUUID)
	return n, ports[0], err
}

func noPort(uuid string) error {
	return node.Refuse(node.NotFound, "Port %s could not be found.", uuid)
}

// Port finds a port by UUID or name.
func (s *Store) Port(ctx context.Context, ref string) (node.Port, error) {
	if err := s.lock(ctx); err != nil {
		return node.Port{}, err
	}
	defer s.mu.Unlock()
	if r := s.ports.rows[ref]; r != nil {
		return clone(r.v), nil
	}
	for _, r := range s.ports.rows {
		if ref != "" && r.v.Name == ref {
			return clone(r.v), nil
		}
	}
	return node.Port{}, noPort(ref)
}

// Ports lists ports in the order of creation.
func (s *Store) Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	after := int64(0)
	if q.Marker != "" {
		m := s.ports.rows[q.Marker]
		if m == nil {
			return nil, noPort(q.Marker)
		}
		after = m.id
	}
	var rows []*row[node.Port]
	for _, r := range s.ports.rows {
		if r.id > after && s.wanted(&q, &r.v) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row[node.Port]) int { return cmp.Compare(a.id, b.id) })
	return cloneRows(rows, q.Limit), nil
}

// EachPort calls f for ports, until it returns false.
func (s *Store) EachPort(ctx context.Context, q node.PortQuery, f func(*node.Port) bool) error {
	q.Limit = 0
	ports, err := s.Ports(ctx, q)
	for i := range ports {
		if !f(&ports[i]) {
			break
		}
	}
	return err
}

// wanted reports whether every filter that is set lets p through.
func (s *Store) wanted(q *node.PortQuery, p *node.Port) bool {
	for _, f := range [][2]string{{q.NodeUUID, p.NodeUUID}, {q.Address, p.Address}, {q.PortgroupUUID, p.PortgroupUUID}} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	of := s.nodes.rows[p.NodeUUID].v
	return concerns(&of, q.Project) && (len(q.Shards) == 0 || slices.Contains(q.Shards, of.Shard)) &&
		(len(q.ConductorGroups) == 0 || slices.Contains(q.ConductorGroups, of.ConductorGroup)) &&
		strings.Contains(strings.ToLower(p.Description), strings.ToLower(q.Contains))
}

// cloneRows copies the first limit rows, all when 0.
func cloneRows[T any](rows []*row[T], limit int) []T {
	if limit > 0 && limit < len(rows) {
		rows = rows[:limit]
	}
	var all []T
	for _, r := range rows {
		all = append(all, clone(r.v))
	}
	return all
}

// Expired returns the UUIDs of at most limit nodes with a deadline at or before now, the oldest first.
func (s *Store) Expired(ctx context.Context, now time.Time, limit int) ([]string, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now = micro(now)
	var rows []*row[node.Node]
	for _, r := range s.nodes.rows {
		if d := micro(r.v.Deadline); !d.IsZero() && !d.After(now) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row[node.Node]) int {
		return cmp.Or(micro(a.v.Deadline).Compare(micro(b.v.Deadline)), cmp.Compare(a.id, b.id))
	})
	var uuids []string
	for _, r := range rows[:max(0, min(limit, len(rows)))] {
		uuids = append(uuids, r.v.UUID)
	}
	return uuids, nil
}

// NextDeadline is the earliest deadline of all.
func (s *Store) NextDeadline(ctx context.Context) (time.Time, bool, error) {
	if err := s.lock(ctx); err != nil {
		return time.Time{}, false, err
	}
	defer s.mu.Unlock()
	var at time.Time
	for _, r := range s.nodes.rows {
		if d := micro(r.v.Deadline); !d.IsZero() && (at.IsZero() || d.Before(at)) {
			at = d
		}
	}
	return at, !at.IsZero(), nil
}

// Inspected returns the results of a node's last inspection.
func (s *Store) Inspected(ctx context.Context, nodeUUID string) (node.Inspected, error) {
	if err := s.lock(ctx); err != nil {
		return node.Inspected{}, err
	}
	defer s.mu.Unlock()
	i, ok := s.found[nodeUUID]
	if !ok {
		return i, node.Refuse(node.NotFound, "Node inventory record for node %s could not be found.", nodeUUID)
	}
	return node.Inspected{Inventory: rawCopy(i.Inventory), PluginData: rawCopy(i.PluginData)}, nil
}

// HardwareReport returns the last report of a node's BMC.
func (s *Store) HardwareReport(ctx context.Context, nodeUUID string) (node.HardwareReport, error) {
	if err := s.lock(ctx); err != nil {
		return node.HardwareReport{}, err
	}
	defer s.mu.Unlock()
	return clone(s.hardware[nodeUUID]), nil
}

// History returns the newest entries of a node, oldest first.
func (s *Store) History(ctx context.Context, nodeUUID string) ([]node.HistoryEntry, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.history[nodeUUID]), nil
}
