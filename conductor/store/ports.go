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
	err := s.small.row(ctx, []any{&doc}, "SELECT doc FROM ports WHERE uuid = ?", uuid)
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
	text, args := "SELECT doc FROM ports WHERE true", []any{}
	where := func(condition string, arg any) { text, args = text+" AND "+condition, append(args, arg) }
	if q.NodeUUID != "" {
		where("node_uuid = ?", q.NodeUUID)
	}
	if q.Address != "" {
		where("address = ?", q.Address)
	}
	if q.Marker != "" {
		if _, err := s.Port(ctx, q.Marker); err != nil {
			return nil, err
		}
		where("id > (SELECT id FROM ports WHERE uuid = ?)", q.Marker)
	}
	docs, err := s.small.texts(ctx, text+" ORDER BY id LIMIT ?", append(args, limit(q.Limit))...)
	if err != nil {
		return nil, fmt.Errorf("list ports: %w", err)
	}
	return decodeAll[node.Port](docs)
}

// limit is a limit as SQLite takes it: -1 for none.
func limit(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}
