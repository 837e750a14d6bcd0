package mem

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Nodes lists nodes.
func (s *Store) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	key, ok := sortKey(q.SortKey)
	if !ok {
		return nil, node.Refuse(node.Invalid, "The sort_key value %q is an invalid field for sorting", q.SortKey)
	}
	order := func(a, b *row[node.Node]) int {
		c := cmp.Or(key(&a.v, &b.v), cmp.Compare(a.id, b.id))
		if q.Desc {
			return -c
		}
		return c
	}
	var marker *row[node.Node]
	if q.Marker != "" {
		if marker = s.nodes.rows[q.Marker]; marker == nil {
			return nil, noNode(q.Marker)
		}
	}
	var rows []*row[node.Node]
	for _, r := range s.nodes.rows {
		if matches(&q, &r.v) && (marker == nil || order(marker, r) < 0) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, order)
	return cloneRows(rows, q.Limit), nil
}

// NodeUUIDs lists the UUIDs of nodes.
func (s *Store) NodeUUIDs(ctx context.Context, q node.Query) (uuids []string, err error) {
	nodes, err := s.Nodes(ctx, q)
	for i := range nodes {
		uuids = append(uuids, nodes[i].UUID)
	}
	return uuids, err
}

// NodeSizes lists nodes by their UUIDs, with the bytes that a database would have of each.
func (s *Store) NodeSizes(ctx context.Context, q node.Query) (all []node.Sized, err error) {
	nodes, err := s.Nodes(ctx, q)
	for i := range nodes {
		doc, _ := json.Marshal(nodes[i]) // which every store keeps as JSON
		all = append(all, node.Sized{UUID: nodes[i].UUID, Bytes: len(doc)})
	}
	return all, err
}

// Shards counts the nodes of each shard, by name; those in none come first.
func (s *Store) Shards(ctx context.Context) ([]node.Shard, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	count := map[string]int{}
	for _, r := range s.nodes.rows {
		count[r.v.Shard]++
	}
	var all []node.Shard
	for _, name := range slices.Sorted(maps.Keys(count)) {
		all = append(all, node.Shard{Name: name, Count: count[name]})
	}
	return all, nil
}

// matches reports whether every filter that is set lets n through.
func matches(q *node.Query, n *node.Node) bool {
	for name, want := range q.Equal {
		if want != "" && node.FieldNamed(name).Text(n) != want {
			return false
		}
	}
	for name, want := range q.Is {
		if node.FieldNamed(name).Value(n) != want {
			return false
		}
	}
	return concerns(n, q.Project) &&
		is(q.Associated, n.InstanceUUID != "") &&
		is(q.ConsoleEnabled, n.ConsoleEnabled) &&
		is(q.Sharded, n.Shard != "") &&
		is(q.ProvisionState, n.ProvisionState) &&
		is(q.ConductorGroup, n.ConductorGroup) &&
		(len(q.UUIDs) == 0 || slices.Contains(q.UUIDs, n.UUID)) &&
		(len(q.Shards) == 0 || slices.Contains(q.Shards, n.Shard)) &&
		strings.Contains(strings.ToLower(n.Description), strings.ToLower(q.Contains)) &&
		(n.ParentNode == "" || q.Equal["parent_node"] != "" || q.WithChildren || len(q.UUIDs) > 0)
}

// concerns reports whether a node is owned by, or lent to, a project; "" is any.
func concerns(n *node.Node, project string) bool {
	return project == "" || n.Owner == project || n.Lessee == project
}

func is[T comparable](want *T, have T) bool { return want == nil || *want == have }

type compare func(a, b *node.Node) int

// sortKey returns the comparison of a sort key; false for an unknown key.
func sortKey(key string) (compare, bool) {
	if key == "" || key == "id" {
		return func(*node.Node, *node.Node) int { return 0 }, true
	}
	f := node.FieldNamed(key)
	if f == nil {
		return nil, false
	}
	switch f.Kind {
	case node.TextField, node.UUIDField:
		return by(f.Text), true
	case node.InterfaceField:
		return by(func(n *node.Node) string { return n.Interfaces[f.InterfaceKind()] }), true
	case node.FlagField, node.OptionalField, node.TimeField:
		return by(func(n *node.Node) int64 { return number(f.At(n)) }), true
	case node.ComputedField, node.ListField, node.ObjectField:
	}
	return nil, false
}

func by[T cmp.Ordered](of func(n *node.Node) T) compare {
	return func(a, b *node.Node) int { return cmp.Compare(of(a), of(b)) }
}

// number orders unset before false before true, and no time before any time.
func number(at any) int64 {
	switch at := at.(type) {
	case *bool:
		return number(&at)
	case **bool:
		switch {
		case *at == nil:
			return -1
		case **at:
			return 1
		}
	case *time.Time:
		return number(&at)
	case **time.Time:
		if *at != nil && !(*at).IsZero() {
			return (*at).UnixMicro()
		}
	}
	return 0
}
