package store

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// sortColumns name the columns that a list can be sorted by. None is ever NULL,
// so that a page can start after any value.
var sortColumns = map[string]string{
	"": "id", "id": "id", "uuid": "uuid", "name": "name", "driver": "driver",
	"provision_state": "provision_state", "target_provision_state": "target_provision_state",
	"power_state": "power_state", "target_power_state": "target_power_state",
	"resource_class": "resource_class", "conductor_group": "conductor_group",
	"instance_uuid": "instance_uuid", "instance_name": "instance_name", "chassis_uuid": "chassis_uuid",
	"owner": "owner", "lessee": "lessee", "fault": "fault", "shard": "shard", "parent_node": "parent_node",
	"maintenance": "maintenance", "retired": "retired", "protected": "protected", "console_enabled": "console_enabled",
	"created_at": "created_at", "updated_at": "updated_at", "provision_updated_at": "provision_updated_at",
	"inspection_started_at": "inspection_started_at", "inspection_finished_at": "inspection_finished_at",
}

// Sort keys that are rarely used are members of the document.
var (
	sortTexts = []string{
		"last_error", "maintenance_reason", "boot_mode", "health", "description", "allocation_uuid",
		"protected_reason", "retired_reason",
	}
	sortFlags      = []string{"disable_power_off", "automated_clean", "secure_boot"}
	sortInterfaces = []string{
		"bios", "boot", "console", "deploy", "firmware", "inspect", "management", "network", "power", "raid",
		"rescue", "storage", "vendor",
	}
)

// sortExpression is the SQL expression of a sort key.
func (d dialect) sortExpression(key string) (string, error) {
	if column, ok := sortColumns[key]; ok {
		return column, nil
	}
	name, isInterface := strings.CutSuffix(key, "_interface")
	switch {
	case slices.Contains(sortTexts, key):
		return d.text(key), nil
	case slices.Contains(sortFlags, key):
		return d.flag(key), nil
	case isInterface && slices.Contains(sortInterfaces, name):
		return d.text("interfaces", name), nil
	}
	return "", node.Refuse(node.Invalid, "The sort_key value %q is an invalid field for sorting", key)
}

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

// selectNodes is the statement for columns of a list of nodes. A marker must exist.
func selectNodes(d dialect, columns string, q *node.Query) (*query, error) {
	by, err := d.sortExpression(q.SortKey)
	if err != nil {
		return nil, err
	}
	dir, after := "ASC", ">"
	if q.Desc {
		dir, after = "DESC", "<"
	}
	sel := newQuery(d, "SELECT "+columns+" FROM nodes")
	sel.whereNodes(q)
	if q.Marker != "" {
		sel.where("("+by+", id) "+after+" (SELECT "+by+", id FROM nodes WHERE uuid = ?)", q.Marker)
	}
	sel.add(" ORDER BY " + by + " " + dir + ", id " + dir)
	if q.Limit > 0 {
		sel.add(" LIMIT ?", q.Limit)
	}
	return sel, nil
}

// whereNodes adds the filters.
func (q *query) whereNodes(want *node.Query) {
	for _, f := range equals {
		if v := f.value(want); v != "" {
			q.where(f.column+" = ?", v)
		}
	}
	for _, f := range flags {
		if v := f.value(want); v != nil {
			q.where("("+f.condition+") = ?", *v)
		}
	}
	if on := want.ConsoleEnabled; on != nil && *on {
		q.where("console_enabled")
	} else if on != nil {
		q.where("NOT console_enabled")
	}
	if p := want.Project; p != "" {
		q.where("(owner = ? OR lessee = ?)", p, p)
	}
	if want.ProvisionState != nil {
		q.where("provision_state = ?", string(*want.ProvisionState))
	}
	if g := want.ConductorGroup; g != nil && *g != "" {
		q.where("conductor_group <> '' AND conductor_group = ?", *g)
	} else if g != nil {
		q.where("conductor_group = ''")
	}
	if len(want.UUIDs) > 0 {
		q.whereAmong("uuid", want.UUIDs)
	}
	if len(want.Shards) > 0 {
		q.whereAmong("shard", want.Shards)
	}
	if want.Contains != "" {
		q.where(q.contains("description_lower"), strings.ToLower(want.Contains))
	}
	if want.ParentNode == "" && !want.WithChildren && len(want.UUIDs) == 0 {
		q.where("parent_node = ''")
	}
}
