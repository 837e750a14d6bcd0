package store

import (
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// sortExpression is the SQL expression of a sort key. None is ever NULL, so that a page can start after any value. Keys
// that are rarely used have no column: they are members of the document.
func (d dialect) sortExpression(key string) (string, error) {
	if key == "" || key == "id" {
		return "id", nil
	}
	if f := node.FieldNamed(key); f != nil {
		if f.Is(node.InColumn) {
			return f.Name, nil
		}
		switch f.Kind {
		case node.TextField, node.UUIDField:
			return d.text(key), nil
		case node.FlagField, node.OptionalField:
			return d.flag(key), nil
		case node.InterfaceField:
			return d.text("interfaces", f.InterfaceKind()), nil
		case node.ComputedField, node.ListField, node.ObjectField, node.TimeField:
		}
	}
	return "", node.Refuse(node.Invalid, "The sort_key value %q is an invalid field for sorting", key)
}

// equal is the condition that a column has a non-empty text. If the column's index leaves out empty texts, the query
// must exclude them, too, or it does not use the index.
func equal(f *node.Field) string {
	switch {
	case f.Name == "chassis_uuid":
		return "chassis = ?" // the column with the index and the reference
	case f.Is(node.SparseText):
		return f.Name + " <> '' AND " + f.Name + " = ?"
	}
	return f.Name + " = ?"
}

// selectNodes is the statement for columns of a list of nodes. A marker must exist.
func selectNodes(d dialect, columns string, q *node.Query) (*query, error) {
	by, err := d.sortExpression(q.SortKey)
	if err != nil {
		return nil, err
	}
	for name := range q.Equal {
		if f := node.FieldNamed(name); f == nil || !f.Is(node.FilterText) {
			return nil, fmt.Errorf("list nodes by %s: the table of fields has no such text filter", name)
		}
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
	for i := range node.Fields { // in their order: equal queries are one text, which is prepared once
		if f := &node.Fields[i]; want.Equal[f.Name] != "" {
			q.where(equal(f), want.Equal[f.Name])
		}
	}
	if want.Associated != nil {
		q.where("(instance_uuid <> '') = ?", *want.Associated)
	}
	for i := range node.Fields {
		f := &node.Fields[i]
		if is, wanted := want.Is[f.Name]; wanted && f.Is(node.FilterFlag) {
			q.where("("+f.Name+") = ?", is)
		}
	}
	if want.Sharded != nil {
		q.where("(shard <> '') = ?", *want.Sharded)
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
	if want.Equal["parent_node"] == "" && !want.WithChildren && len(want.UUIDs) == 0 {
		q.where("parent_node = ''")
	}
}
