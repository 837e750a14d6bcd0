package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// checkedTable is a table, the schema it came with, and the columns that one row is
// judged by; the first of them is its key.
type checkedTable struct {
	name    string
	since   int64
	columns []string
	check   func(c *checker, r checkedRow)
}

// checkedTables is every table of the schema.
var checkedTables = []checkedTable{
	{"sealing", 14, []string{"key"}, checkKey}, // before the rows that these keys have sealed
	{"nodes", 1, append([]string{"uuid", "revision", "doc", "sealed"}, columnNames()...), checkNode},
	{"ports", 1, []string{"uuid", "node_uuid", "address", "doc"}, columnsOf(func(p *node.Port) map[string]any {
		return map[string]any{"uuid": p.UUID, "node_uuid": p.NodeUUID, "address": p.Address}
	})},
	{"effects", 1, []string{"id", "args", "name", "node", "generation", "sealed"}, checkEffect},
	{"history", 1, []string{"id", "node_uuid", "doc"}, columnsOf(func(h *node.HistoryEntry) map[string]any {
		return map[string]any{"node_uuid": h.NodeUUID}
	})},
	{"inspected", 1, []string{"node_uuid", "inventory", "plugin_data"}, checkInspected},
	{"leases", 1, []string{"mac", "ip"}, checkLease},
	{"declines", 24, []string{"mac", "ip"}, checkLease},
	{"deploy_templates", 2, recordColumns("name", "sealed"), checkRecord[node.DeployTemplate]},
	{"runbooks", 2, recordColumns("name", "owner", "sealed"), checkRecord[node.Runbook]},
	{"told", 4, []string{"node_uuid", "doc"}, columnsOf(func(*node.HardwareReport) map[string]any { return nil })},
	{"chassis", 5, recordColumns(), checkRecord[node.Chassis]},
	{"portgroups", 5, recordColumns("name", "address", "node_uuid"), checkRecord[node.Portgroup]},
	{"volume_connectors", 6, recordColumns("node_uuid", "identity"), checkRecord[node.VolumeConnector]},
	{"volume_targets", 6, recordColumns("node_uuid", "place", "sealed"), checkRecord[node.VolumeTarget]},
	{"allocations", 7, recordColumns("name", "node_uuid", "state", "owner"), checkRecord[node.Allocation]},
	{"inspection_rules", 8, recordColumns("phase", "sealed"), checkRecord[node.InspectionRule]},
	{"erase_reports", 11, recordColumns("of_node"), checkEraseReport},
	{"objects", 12, []string{"uid", "kind", "namespace", "name", "revision", "doc"}, checkObject},
	{"events", 18, []string{"id", "type", "doc"}, checkEvent},
	{"audit", 20, []string{"id", "doc"}, checkEvent},
	{"audit_writers", 26, []string{"writer"}, func(*checker, checkedRow) {}},
	{"event_readers", 19, []string{"name"}, func(*checker, checkedRow) {}},
	{"event_log", 18, []string{"id"}, func(*checker, checkedRow) {}},
	{"objects_revision", 12, []string{"revision"}, func(*checker, checkedRow) {}},
	{"images", 23, recordColumns("name", "owner_name", "digest"), checkRecord[node.Image]},
	{"holds", 21, []string{"since", "backup"}, func(*checker, checkedRow) {}},
}

func recordColumns(keys ...string) []string {
	return append([]string{"uuid", "revision", "doc"}, keys...)
}

func columnNames() (names []string) {
	for _, c := range nodeColumns {
		names = append(names, c.name)
	}
	return names
}

// checkedRow is one row of a table, its values by column.
type checkedRow struct {
	table, key string
	values     map[string]any
}

// text is a column as text, which documents of hosts are stored as bytes for.
func (r checkedRow) text(column string) string {
	switch v := r.values[column].(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	default:
		return fmt.Sprint(v)
	}
}

func (r checkedRow) int(column string) int64 {
	v, _ := r.values[column].(int64)
	return v
}

// table checks all rows of a table. Columns that came with a later schema are left out.
func (c *checker) table(ctx context.Context, t checkedTable) error {
	all, err := c.columns(ctx, copiedTable{name: t.name})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		if c.has(t.since) {
			c.fault(t.name, "", fmt.Sprintf("the table, which schema %d has", c.done.Schema), "none", restore)
		}
		return nil
	}
	columns := slices.DeleteFunc(all, func(col copiedColumn) bool { return !slices.Contains(t.columns, col.name) })
	names := columnList(columns)
	if !slices.Contains(names, t.columns[0]) {
		return fmt.Errorf("it has no column %s", t.columns[0])
	}
	count := 0
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	err = c.each(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+t.name, func(rows *sql.Rows) error {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		r := checkedRow{table: t.name, values: map[string]any{}}
		for i, col := range columns {
			v, err := col.value(values[i], c.read)
			if err != nil {
				v = values[i] // which its document will not say
			}
			r.values[col.name] = v
		}
		r.key = r.text(t.columns[0])
		count++
		t.check(c, r)
		return nil
	})
	c.done.Tables = append(c.done.Tables, TableCount{t.name, count})
	return err
}

// document reads the document of a row. An unreadable document is a fault.
func document[T any](c *checker, r checkedRow) (v T, ok bool) {
	if err := json.Unmarshal([]byte(r.text("doc")), &v); err != nil {
		c.fault(r.table, r.key, fmt.Sprintf("the JSON of a %T", v), err, restore)
		return v, false
	}
	c.sealed(r, func(s sealer, envelope []byte) error { return s.open(r.table, r.key, &v, envelope) })
	return v, true
}

// agrees compares the values in a document with the columns beside it.
func (c *checker) agrees(r checkedRow, says map[string]any) {
	for column, want := range says {
		have, there := r.values[column]
		if !there {
			continue
		}
		if is, ok := want.(bool); ok {
			want = int64(0)
			if is {
				want = int64(1)
			}
		}
		if have == nil {
			have = ""
		}
		if have != want {
			c.fault(r.table, r.key, fmt.Sprintf("%s %v, which its document says", column, want), fmt.Sprint(have), restore)
		}
	}
}

// columnsOf checks rows of one type of documents against their columns.
func columnsOf[T any](says func(*T) map[string]any) func(*checker, checkedRow) {
	return func(c *checker, r checkedRow) {
		if v, ok := document[T](c, r); ok {
			c.agrees(r, says(&v))
		}
	}
}

func checkEvent(c *checker, r checkedRow) { document[map[string]any](c, r) }

func checkNode(c *checker, r checkedRow) {
	n, ok := document[node.Node](c, r)
	if !ok {
		return
	}
	says := map[string]any{"uuid": n.UUID, "revision": n.Revision}
	for _, column := range nodeColumns {
		says[column.name] = column.value(&n)
	}
	if !c.has(machinesFilled) {
		delete(says, "machine")
	}
	c.agrees(r, says)
	if _, known := node.States[n.ProvisionState]; !known {
		c.fault(r.table, r.key, "a provision_state that this build knows", string(n.ProvisionState), restore)
	}
}

func checkRecord[T any, P node.Recorded[T]](c *checker, r checkedRow) {
	v, ok := document[T](c, r)
	if !ok {
		return
	}
	says := map[string]any{"uuid": P(&v).Head().UUID, "revision": P(&v).Head().Revision}
	for _, k := range P(&v).Keys() {
		says[k.Column] = k.Value
	}
	c.agrees(r, says)
}

func checkEraseReport(c *checker, r checkedRow) {
	checkRecord[node.EraseReport](c, r)
	var v node.EraseReport
	if json.Unmarshal([]byte(r.text("doc")), &v) != nil || c.o.EraseReport == nil {
		return
	}
	if err := c.o.EraseReport(v); err != nil {
		c.fault(r.table, r.key, "a statement and the signature over it", err, restore)
	}
}

func checkEffect(c *checker, r checkedRow) {
	c.sealed(r, func(s sealer, envelope []byte) error {
		e := node.Effect{Node: r.text("node"), Name: r.text("name"), Generation: r.int("generation")}
		_, err := s.openBytes(r.table, effectKey(&e), envelope)
		return err
	})
	if args := r.text("args"); args != "" && !json.Valid([]byte(args)) {
		c.fault(r.table, r.key, "JSON arguments of "+r.text("name")+" of node "+r.text("node"),
			fmt.Sprintf("%.80q", args), restore)
	}
}

func checkInspected(c *checker, r checkedRow) {
	for _, column := range []string{"inventory", "plugin_data"} {
		text := bytes.TrimSpace([]byte(r.text(column)))
		if len(text) > 0 && !json.Valid(text) {
			c.fault(r.table, r.key, "JSON in "+column, fmt.Sprintf("%.80q", text), "inspect the node again, or "+restore)
		}
	}
}

func checkLease(c *checker, r checkedRow) {
	_, macErr := net.ParseMAC(r.key)
	_, ipErr := netip.ParseAddr(r.text("ip"))
	if err := errors.Join(macErr, ipErr); err != nil {
		c.fault(r.table, r.key, "a MAC and an IP address", err, restore)
	}
}

func checkObject(c *checker, r checkedRow) {
	row := objects.Row{
		Key: objects.Key{Kind: r.text("kind"), Namespace: r.text("namespace"), Name: r.text("name")},
		UID: r.text("uid"), Revision: r.int("revision"), Doc: []byte(r.text("doc")),
	}
	if c.o.Document == nil {
		return
	}
	if err := c.o.Document(row); err != nil {
		do := restore
		if errors.Is(err, objects.ErrSealed) {
			do = "restore the key that is of the same backup as the database, or apply the secret again"
		}
		c.fault(r.table, row.String(), "a document that can be read", err, do)
	}
}
