package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const (
	insertPort = "INSERT INTO ports (node_uuid, address, description_lower, doc, uuid) VALUES (?, ?, ?, ?, ?)"
	updatePort = "UPDATE ports SET node_uuid = ?, address = ?, description_lower = ?, doc = ? WHERE uuid = ?"
)

func (t *tx) applyPorts(c *node.Change) error {
	for _, uuid := range c.DropPorts {
		if err := t.dropPort(uuid); err != nil {
			return err
		}
	}
	for i := range c.SavePorts {
		touched, err := t.writePort(updatePort, &c.SavePorts[i])
		if err != nil {
			return err
		}
		if touched == 0 {
			return fmt.Errorf("save port %s, which is gone: %w: read it again", c.SavePorts[i].UUID, node.ErrStale)
		}
	}
	for i := range c.AddPorts {
		if _, err := t.writePort(insertPort, &c.AddPorts[i]); err != nil {
			return err
		}
	}
	return nil
}

// writePort returns how many ports the statement has written. A port that is
// saved keeps its place in the order of creation.
func (t *tx) writePort(statement string, p *node.Port) (int64, error) {
	doc, err := json.Marshal(p)
	if err != nil {
		return 0, fmt.Errorf("encode port %s: %w", p.UUID, err)
	}
	if err := t.boundParts("ports", "port", p.NodeUUID, p.UUID, len(doc)); err != nil {
		return 0, err
	}
	t.addresses.add(p.Address)
	touched, err := t.exec(statement, p.NodeUUID, p.Address, strings.ToLower(p.Description), string(doc), p.UUID)
	if col, ok := taken(err); ok {
		return 0, portTaken(p, col)
	}
	if orphan(err) {
		return 0, t.missingReference(p, err)
	}
	return touched, err
}

// portTaken words that another port has the value of a column.
func portTaken(p *node.Port, column string) error {
	switch column {
	case "ports.uuid":
		return node.Refuse(node.Conflict, "%s", node.Exists("port", "UUID", p.UUID))
	case "ports.name":
		return node.Refuse(node.Conflict, "%s", node.Exists("port", "name", p.Name))
	}
	return node.Refuse(node.Conflict, "%s", node.Exists("port", "MAC address", p.Address))
}

// missingReference finds the missing record that a port refers to. SQLite does not say
// which reference it refused; PostgreSQL does, and answers no query afterwards.
func (t *tx) missingReference(p *node.Port, refused error) error {
	switch orphanColumn(refused) {
	case "ports.node_uuid":
		return noNode(p.NodeUUID)
	case "ports.portgroup_uuid":
		return noPortgroup(p.PortgroupUUID)
	}
	found, err := t.exists("SELECT 1 FROM nodes WHERE uuid = ?", p.NodeUUID)
	switch {
	case err != nil:
		return errors.Join(refused, err)
	case !found:
		return noNode(p.NodeUUID)
	}
	return noPortgroup(p.PortgroupUUID)
}

func noPortgroup(uuid string) error {
	return node.Refuse(node.Invalid, "Portgroup %s could not be found.", uuid)
}

func (t *tx) dropPort(uuid string) error {
	touched, err := t.exec("DELETE FROM ports WHERE uuid = ?", uuid)
	if err == nil && touched == 0 {
		return noPort(uuid)
	}
	return err
}

func noPort(uuid string) error {
	return node.Refuse(node.NotFound, "Port %s could not be found.", uuid)
}

// Port finds a port by UUID or name.
func (s *Database) Port(ctx context.Context, ref string) (node.Port, error) {
	var doc string
	err := s.read.row(ctx, []any{&doc},
		"SELECT doc FROM ports WHERE uuid = ?1 OR name = ?1 ORDER BY uuid = ?1 DESC LIMIT 1", ref)
	if errors.Is(err, sql.ErrNoRows) {
		return node.Port{}, noPort(ref)
	}
	if err != nil {
		return node.Port{}, fmt.Errorf("read port %s: %w", ref, err)
	}
	return decode[node.Port](doc)
}

// Ports lists ports in the order of creation.
func (s *Database) Ports(ctx context.Context, q node.PortQuery) (all []node.Port, err error) {
	err = s.EachPort(ctx, q, func(p *node.Port) bool {
		all = append(all, *p)
		return q.Limit <= 0 || len(all) < q.Limit
	})
	return all, err
}

// EachPort calls f for the ports that a query without a limit lists, until it returns false.
func (s *Database) EachPort(ctx context.Context, q node.PortQuery, f func(*node.Port) bool) error {
	after := int64(0)
	if q.Marker != "" {
		err := s.read.row(ctx, []any{&after}, "SELECT id FROM ports WHERE uuid = ?", q.Marker)
		if errors.Is(err, sql.ErrNoRows) {
			return noPort(q.Marker)
		}
		if err != nil {
			return fmt.Errorf("read port %s: %w", q.Marker, err)
		}
	}
	if q.Address != "" && s.addresses.lack(ctx, s.read, q.Address) {
		return nil
	}
	var bad error
	err := s.read.batches(ctx, after, func() *query { return selectPorts(s.dialect, &q) }, func(r recordRow) bool {
		var p node.Port
		p, bad = decode[node.Port](r.doc)
		return bad == nil && f(&p)
	})
	if err != nil {
		return fmt.Errorf("list ports: %w", err)
	}
	return bad
}

// selectByAddress joins a port with its node: each machine that asks for an address costs one query.
const selectByAddress = `SELECT ports.doc, nodes.id, nodes.revision, nodes.uuid, nodes.doc, nodes.sealed
	FROM ports JOIN nodes ON nodes.uuid = ports.node_uuid WHERE ports.address = ? ORDER BY ports.id LIMIT 1`

// NodeByAddress returns the first port with an address, and its node.
func (s *Database) NodeByAddress(ctx context.Context, address string) (n node.Node, p node.Port, err error) {
	if s.addresses.lack(ctx, s.read, address) {
		return n, p, node.Refuse(node.NotFound, "No port has the address %s.", address)
	}
	var r nodeRow
	var doc string
	err = s.read.row(ctx, append([]any{&doc}, r.places()...), selectByAddress, address)
	if errors.Is(err, sql.ErrNoRows) {
		return n, p, node.Refuse(node.NotFound, "No port has the address %s.", address)
	}
	if err == nil {
		p, err = decode[node.Port](doc)
	}
	var found *cached
	if err == nil {
		found, err = s.cache.decoded(&r)
	}
	if err != nil {
		return n, p, fmt.Errorf("read the node with a port %s: %w", address, err)
	}
	return found.node.Clone(), p, nil
}

// selectPorts has one text for each combination of filters, which are few, so
// that each is prepared once.
func selectPorts(d dialect, q *node.PortQuery) *query {
	sel := newQuery(d, "SELECT id, uuid, doc, NULL FROM ports")
	for _, f := range [][2]string{
		{"node_uuid = ?", q.NodeUUID}, {"address = ?", q.Address}, {"portgroup_uuid = ?", q.PortgroupUUID},
		{d.contains("description_lower"), strings.ToLower(q.Contains)},
	} {
		if f[1] != "" {
			sel.where(f[0], f[1])
		}
	}
	if p := q.Project; p != "" {
		sel.where("node_uuid IN (SELECT uuid FROM nodes WHERE ? IN (owner, lessee))", p)
	}
	for _, f := range []struct {
		column string
		among  []string
	}{{"shard", q.Shards}, {"conductor_group", q.ConductorGroups}} {
		if len(f.among) > 0 {
			sel.whereAmong("node_uuid IN (SELECT uuid FROM nodes WHERE "+f.column, f.among)
			sel.add(")")
		}
	}
	return sel
}
