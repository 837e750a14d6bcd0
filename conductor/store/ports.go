package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// putPort inserts a port or replaces the one of its UUID, which keeps its place
// in the order of creation.
func (t *tx) putPort(p *node.Port) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode port %s: %w", p.UUID, err)
	}
	_, err = t.exec(`INSERT INTO ports (uuid, node_uuid, address, doc) VALUES (?, ?, ?, ?) ON CONFLICT (uuid)
		DO UPDATE SET node_uuid = excluded.node_uuid, address = excluded.address, doc = excluded.doc`,
		p.UUID, p.NodeUUID, p.Address, string(doc))
	if _, ok := taken(err); ok {
		return node.Refuse(node.Conflict, "A port with MAC address %s already exists.", p.Address)
	}
	if orphan(err) {
		return noNode(p.NodeUUID)
	}
	return err
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

// Port finds a port by UUID.
func (s *SQLite) Port(ctx context.Context, uuid string) (node.Port, error) {
	var doc string
	err := s.point.port.QueryRowContext(ctx, uuid).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return node.Port{}, noPort(uuid)
	}
	if err != nil {
		return node.Port{}, fmt.Errorf("read port %s: %w", uuid, err)
	}
	return decode[node.Port](doc)
}

// Ports lists ports in the order of creation.
func (s *SQLite) Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error) {
	sel := s.read.NewSelect().Table("ports").Column("doc").OrderExpr("id")
	if q.NodeUUID != "" {
		sel.Where("node_uuid = ?", q.NodeUUID)
	}
	if q.Address != "" {
		sel.Where("address = ?", q.Address)
	}
	if q.Project != "" {
		sel.Where("node_uuid IN (SELECT uuid FROM nodes WHERE owner = ?0 OR lessee = ?0)", q.Project)
	}
	if q.Marker != "" {
		if _, err := s.Port(ctx, q.Marker); err != nil {
			return nil, err
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
