package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// putPort inserts a port or replaces the one of its UUID, which keeps its place
// in the order of creation.
func (t *tx) putPort(p *node.Port) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode port %s: %w", p.UUID, err)
	}
	_, err = t.exec(`INSERT INTO ports (uuid, node_uuid, address, description_lower, doc) VALUES (?, ?, ?, ?, ?) ON CONFLICT (uuid)
		DO UPDATE SET node_uuid = excluded.node_uuid, address = excluded.address, description_lower = excluded.description_lower, doc = excluded.doc`,
		p.UUID, p.NodeUUID, p.Address, strings.ToLower(p.Description), string(doc))
	if col, ok := taken(err); ok && col == "ports.name" {
		return node.Refuse(node.Conflict, "A port with name %s already exists.", p.Name)
	} else if ok {
		return node.Refuse(node.Conflict, "A port with MAC address %s already exists.", p.Address)
	}
	if orphan(err) {
		return t.namesNobody(p, err)
	}
	return err
}

// namesNobody finds out what a port names that does not exist: SQLite does not
// tell which reference it refused.
func (t *tx) namesNobody(p *node.Port, refused error) error {
	found, err := t.exists("SELECT 1 FROM nodes WHERE uuid = ?", p.NodeUUID)
	switch {
	case err != nil:
		return errors.Join(refused, err)
	case !found:
		return noNode(p.NodeUUID)
	}
	return node.Refuse(node.Invalid, "Portgroup %s could not be found.", p.PortgroupUUID)
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
func (s *SQLite) Port(ctx context.Context, ref string) (node.Port, error) {
	var doc string
	err := s.point.port.QueryRowContext(ctx, ref).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return node.Port{}, noPort(ref)
	}
	if err != nil {
		return node.Port{}, fmt.Errorf("read port %s: %w", ref, err)
	}
	return decode[node.Port](doc)
}

// Ports lists ports in the order of creation.
func (s *SQLite) Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error) {
	sel := s.read.NewSelect().Table("ports").Column("doc").OrderExpr("id")
	for _, f := range [][2]string{{"node_uuid", q.NodeUUID}, {"address", q.Address}, {"portgroup_uuid", q.PortgroupUUID}} {
		if f[1] != "" {
			sel.Where("? = ?", bun.Ident(f[0]), f[1])
		}
	}
	if len(q.Shards) > 0 {
		sel.Where("node_uuid IN (SELECT uuid FROM nodes WHERE shard IN ?)", bun.Tuple(q.Shards))
	}
	if len(q.ConductorGroups) > 0 {
		sel.Where("node_uuid IN (SELECT uuid FROM nodes WHERE conductor_group IN ?)", bun.Tuple(q.ConductorGroups))
	}
	if q.Contains != "" {
		sel.Where("instr(description_lower, ?) > 0", strings.ToLower(q.Contains))
	}
	if q.Project != "" {
		sel.Where("node_uuid IN (SELECT uuid FROM nodes WHERE owner = ?0 OR lessee = ?0)", q.Project)
	}
	if q.Marker != "" {
		found, err := s.read.NewSelect().Table("ports").Where("uuid = ?", q.Marker).Exists(ctx)
		if err != nil {
			return nil, fmt.Errorf("read port %s: %w", q.Marker, err)
		}
		if !found {
			return nil, noPort(q.Marker)
		}
		sel.Where("id > (SELECT id FROM ports WHERE uuid = ?)", q.Marker)
	}
	if q.Limit > 0 {
		sel.Limit(int64(q.Limit))
	}
	var docs []string
	if err := sel.Scan(ctx, &docs); err != nil {
		return nil, fmt.Errorf("list ports: %w", err)
	}
	return decodeAll[node.Port](docs)
}
