package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// sortColumns say what to order by for each sort key: a column, or for what is
// rarely sorted by a part of the document. None is ever NULL, so that a page can
// start after any value.
var sortColumns = map[string]string{
	"": "id", "id": "id", "uuid": "uuid", "name": "name", "driver": "driver",
	"provision_state": "provision_state", "target_provision_state": "target_provision_state",
	"power_state": "power_state", "target_power_state": "target_power_state",
	"resource_class": "resource_class", "conductor_group": "conductor_group",
	"instance_uuid": "instance_uuid", "instance_name": "instance_name", "chassis_uuid": "chassis_uuid",
	"owner": "owner", "lessee": "lessee", "fault": "fault", "shard": "shard", "parent_node": "parent_node",
	"maintenance": "maintenance", "retired": "retired", "protected": "protected",
	"created_at": "created_at", "updated_at": "updated_at", "provision_updated_at": "provision_updated_at",
	"inspection_started_at": "inspection_started_at", "inspection_finished_at": "inspection_finished_at",

	"last_error": text("last_error"), "maintenance_reason": text("maintenance_reason"),
	"boot_mode": text("boot_mode"), "health": text("health"), "description": text("description"), "allocation_uuid": text("allocation_uuid"),
	"protected_reason": text("protected_reason"), "retired_reason": text("retired_reason"),
	"console_enabled": flag("console_enabled"), "disable_power_off": flag("disable_power_off"),
	"automated_clean": flag("automated_clean"), "secure_boot": flag("secure_boot"),

	"bios_interface": text("interfaces.bios"), "boot_interface": text("interfaces.boot"),
	"console_interface": text("interfaces.console"), "deploy_interface": text("interfaces.deploy"),
	"firmware_interface": text("interfaces.firmware"), "inspect_interface": text("interfaces.inspect"),
	"management_interface": text("interfaces.management"), "network_interface": text("interfaces.network"),
	"power_interface": text("interfaces.power"), "raid_interface": text("interfaces.raid"),
	"rescue_interface": text("interfaces.rescue"), "storage_interface": text("interfaces.storage"),
	"vendor_interface": text("interfaces.vendor"),
}

func text(path string) string { return "coalesce(doc ->> '$." + path + "', '')" }

// flag orders unset before false before true.
func flag(path string) string { return "coalesce(doc ->> '$." + path + "', -1)" }

// equals are the filters that compare a column with a text that is not empty.
// Where the index has no empty ones, the query must say that it wants none.
var equals = []struct {
	column string
	value  func(q *node.Query) string
}{
	{"driver", func(q *node.Query) string { return q.Driver }},
	{"resource_class", func(q *node.Query) string { return q.ResourceClass }},
	{"instance_uuid <> '' AND instance_uuid", func(q *node.Query) string { return q.InstanceUUID }},
	{"instance_name <> '' AND instance_name", func(q *node.Query) string { return q.InstanceName }},
	{"owner <> '' AND owner", func(q *node.Query) string { return q.Owner }},
	{"lessee <> '' AND lessee", func(q *node.Query) string { return q.Lessee }},
	{"fault <> '' AND fault", func(q *node.Query) string { return q.Fault }},
	{"parent_node <> '' AND parent_node", func(q *node.Query) string { return q.ParentNode }},
	{"chassis", func(q *node.Query) string { return q.ChassisUUID }},
}

// flags are the filters that compare a yes or no.
var flags = []struct {
	condition string
	value     func(q *node.Query) *bool
}{
	{"instance_uuid <> ''", func(q *node.Query) *bool { return q.Associated }},
	{"maintenance", func(q *node.Query) *bool { return q.Maintenance }},
	{"retired", func(q *node.Query) *bool { return q.Retired }},
	{"shard <> ''", func(q *node.Query) *bool { return q.Sharded }},
}

func (s *SQLite) selectNodes(ctx context.Context, q node.Query) (*bun.SelectQuery, error) {
	sel := filter(s.read.NewSelect().Table("nodes").ColumnExpr(nodeRowColumns), &q)
	by, ok := sortColumns[q.SortKey]
	if !ok {
		return nil, node.Refuse(node.Invalid, "The sort_key value %q is an invalid field for sorting", q.SortKey)
	}
	dir, after := "ASC", ">"
	if q.Desc {
		dir, after = "DESC", "<"
	}
	if q.Marker != "" {
		found, err := s.read.NewSelect().Table("nodes").Where("uuid = ?", q.Marker).Exists(ctx)
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", q.Marker, err)
		}
		if !found {
			return nil, noNode(q.Marker)
		}
		sel.Where("(?0, id) ?1 (SELECT ?0, id FROM nodes WHERE uuid = ?2)", bun.Safe(by), bun.Safe(after), q.Marker)
	}
	sel.OrderExpr("? ?, id ?", bun.Safe(by), bun.Safe(dir), bun.Safe(dir))
	if q.Limit > 0 {
		sel.Limit(int64(q.Limit))
	}
	return sel, nil
}

func filter(sel *bun.SelectQuery, q *node.Query) *bun.SelectQuery {
	for _, f := range equals {
		if v := f.value(q); v != "" {
			sel.Where("? = ?", bun.Safe(f.column), v)
		}
	}
	for _, f := range flags {
		if v := f.value(q); v != nil {
			sel.Where("(?) = ?", bun.Safe(f.condition), *v)
		}
	}
	if q.Project != "" {
		sel.Where("(owner = ?0 OR lessee = ?0)", q.Project)
	}
	if q.ProvisionState != nil {
		sel.Where("provision_state = ?", string(*q.ProvisionState))
	}
	if g := q.ConductorGroup; g != nil && *g != "" {
		sel.Where("conductor_group <> '' AND conductor_group = ?", *g)
	} else if g != nil {
		sel.Where("conductor_group = ''")
	}
	if len(q.UUIDs) > 0 {
		sel.Where("uuid IN ?", bun.Tuple(q.UUIDs))
	}
	if len(q.Shards) > 0 {
		sel.Where("shard IN ?", bun.Tuple(q.Shards))
	}
	if q.Contains != "" {
		sel.Where("instr(description_lower, ?) > 0", strings.ToLower(q.Contains))
	}
	if q.ParentNode == "" && !q.WithChildren && len(q.UUIDs) == 0 {
		sel.Where("parent_node = ''")
	}
	return sel
}
