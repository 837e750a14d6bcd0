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
	for _, f := range [][2]string{
		{q.Driver, n.Driver},
		{q.ResourceClass, n.ResourceClass},
		{q.InstanceUUID, n.InstanceUUID},
		{q.InstanceName, n.InstanceName},
		{q.Owner, n.Owner},
		{q.Lessee, n.Lessee},
		{q.Fault, n.Fault},
		{q.ParentNode, n.ParentNode},
		{q.ChassisUUID, n.ChassisUUID},
	} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	return concerns(n, q.Project) &&
		is(q.Associated, n.InstanceUUID != "") &&
		is(q.Maintenance, n.Maintenance) &&
		is(q.Retired, n.Retired) &&
		is(q.ConsoleEnabled, n.ConsoleEnabled) &&
		is(q.Sharded, n.Shard != "") &&
		is(q.ProvisionState, n.ProvisionState) &&
		is(q.ConductorGroup, n.ConductorGroup) &&
		(len(q.UUIDs) == 0 || slices.Contains(q.UUIDs, n.UUID)) &&
		(len(q.Shards) == 0 || slices.Contains(q.Shards, n.Shard)) &&
		strings.Contains(strings.ToLower(n.Description), strings.ToLower(q.Contains)) &&
		(n.ParentNode == "" || q.ParentNode != "" || q.WithChildren || len(q.UUIDs) > 0)
}

// concerns reports whether a node is owned by, or lent to, a project; "" is any.
func concerns(n *node.Node, project string) bool {
	return project == "" || n.Owner == project || n.Lessee == project
}

func is[T comparable](want *T, have T) bool { return want == nil || *want == have }

type compare func(a, b *node.Node) int

// sortKey returns how a sort key compares two nodes, false for one that does
// not exist.
func sortKey(key string) (compare, bool) {
	if kind, ok := strings.CutSuffix(key, "_interface"); ok && slices.Contains(kinds[:], kind) {
		return by(func(n *node.Node) string { return n.Interfaces[kind] }), true
	}
	c, ok := sortKeys[key]
	return c, ok
}

var kinds = [...]string{
	"bios", "boot", "console", "deploy", "firmware", "inspect", "management",
	"network", "power", "raid", "rescue", "storage", "vendor",
}

var sortKeys = map[string]compare{
	"":   func(*node.Node, *node.Node) int { return 0 },
	"id": func(*node.Node, *node.Node) int { return 0 },

	"uuid":                   by(func(n *node.Node) string { return n.UUID }),
	"name":                   by(func(n *node.Node) string { return n.Name }),
	"driver":                 by(func(n *node.Node) string { return n.Driver }),
	"provision_state":        by(func(n *node.Node) node.State { return n.ProvisionState }),
	"target_provision_state": by(func(n *node.Node) node.State { return n.TargetProvisionState }),
	"power_state":            by(func(n *node.Node) node.PowerState { return n.PowerState }),
	"target_power_state":     by(func(n *node.Node) node.PowerState { return n.TargetPowerState }),
	"resource_class":         by(func(n *node.Node) string { return n.ResourceClass }),
	"conductor_group":        by(func(n *node.Node) string { return n.ConductorGroup }),
	"instance_uuid":          by(func(n *node.Node) string { return n.InstanceUUID }),
	"instance_name":          by(func(n *node.Node) string { return n.InstanceName }),
	"chassis_uuid":           by(func(n *node.Node) string { return n.ChassisUUID }),
	"allocation_uuid":        by(func(n *node.Node) string { return n.AllocationUUID }),
	"owner":                  by(func(n *node.Node) string { return n.Owner }),
	"lessee":                 by(func(n *node.Node) string { return n.Lessee }),
	"fault":                  by(func(n *node.Node) string { return n.Fault }),
	"shard":                  by(func(n *node.Node) string { return n.Shard }),
	"parent_node":            by(func(n *node.Node) string { return n.ParentNode }),
	"description":            by(func(n *node.Node) string { return n.Description }),
	"last_error":             by(func(n *node.Node) string { return n.LastError }),
	"maintenance_reason":     by(func(n *node.Node) string { return n.MaintenanceReason }),
	"protected_reason":       by(func(n *node.Node) string { return n.ProtectedReason }),
	"retired_reason":         by(func(n *node.Node) string { return n.RetiredReason }),
	"boot_mode":              by(func(n *node.Node) string { return n.BootMode }),
	"health":                 by(func(n *node.Node) string { return n.Health }),

	"maintenance":       by(func(n *node.Node) int { return flag(&n.Maintenance) }),
	"retired":           by(func(n *node.Node) int { return flag(&n.Retired) }),
	"protected":         by(func(n *node.Node) int { return flag(&n.Protected) }),
	"console_enabled":   by(func(n *node.Node) int { return flag(&n.ConsoleEnabled) }),
	"disable_power_off": by(func(n *node.Node) int { return flag(&n.DisablePowerOff) }),
	"automated_clean":   by(func(n *node.Node) int { return flag(n.AutomatedClean) }),
	"secure_boot":       by(func(n *node.Node) int { return flag(n.SecureBoot) }),

	"created_at":             by(func(n *node.Node) int64 { return when(&n.CreatedAt) }),
	"updated_at":             by(func(n *node.Node) int64 { return when(n.UpdatedAt) }),
	"provision_updated_at":   by(func(n *node.Node) int64 { return when(n.ProvisionUpdatedAt) }),
	"inspection_started_at":  by(func(n *node.Node) int64 { return when(n.InspectionStartedAt) }),
	"inspection_finished_at": by(func(n *node.Node) int64 { return when(n.InspectionFinishedAt) }),
}

func by[T cmp.Ordered](of func(n *node.Node) T) compare {
	return func(a, b *node.Node) int { return cmp.Compare(of(a), of(b)) }
}

// flag orders unset before false before true.
func flag(b *bool) int {
	switch {
	case b == nil:
		return -1
	case *b:
		return 1
	}
	return 0
}

// when orders no time before any time.
func when(t *time.Time) int64 {
	if t == nil || t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
