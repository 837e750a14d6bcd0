package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// nodeColumn is a part of a node that queries filter, sort or wait by. The document beside the columns has the whole
// node. The seldom ones change when an operator changes them.
type nodeColumn struct {
	name   string
	seldom bool
	value  func(n *node.Node) any
}

// nodeColumns are the fields with a column, and columns that are made of fields.
var nodeColumns = func() (all []nodeColumn) {
	for i := range node.Fields {
		if f := &node.Fields[i]; f.Is(node.InColumn) && f.Name != "uuid" {
			all = append(all, nodeColumn{f.Name, !f.Is(node.BusyColumn), func(n *node.Node) any { return columnValue(f.At(n)) }})
		}
	}
	return append(all,
		nodeColumn{"description_lower", true, func(n *node.Node) any { return strings.ToLower(n.Description) }},
		nodeColumn{"deadline", false, func(n *node.Node) any { return micros(n.Deadline) }},
		nodeColumn{"machine", true, func(n *node.Node) any { return n.MachineKey() }})
}()

// columnValue is the value at a field's place as its column keeps it.
func columnValue(at any) any {
	switch at := at.(type) {
	case *string:
		return *at
	case *bool:
		return *at
	case *node.State:
		return string(*at)
	case *node.PowerState:
		return string(*at)
	case *time.Time:
		return micros(*at)
	case **time.Time:
		return microsOf(*at)
	}
	panic(fmt.Sprintf("a column cannot keep %T", at)) // TestSortKeys would find it
}

// The statements that write a node. Saves are many, and SQLite touches every index
// on a column that a statement names: saveOften leaves the seldom columns and
// their indexes alone, and finds no row when one of them has changed.
var insertNode, saveOften, saveWhole = nodeStatements()

func nodeStatements() (insert, often, whole string) {
	var names, changing, seldom []string
	created := ""
	for i, c := range nodeColumns {
		names = append(names, c.name)
		if c.name == "created_at" {
			created = fmt.Sprintf(" AND created_at = ?%d", i+1)
		}
		if is := fmt.Sprintf("?%d", i+1); c.seldom {
			seldom = append(seldom, c.name+" = "+is)
		} else {
			changing = append(changing, c.name+" = "+is)
		}
	}
	k := len(names)
	last := fmt.Sprintf("doc = ?%d, sealed = ?%d, revision = ?%d", k+1, k+2, k+3)
	which := fmt.Sprintf(" WHERE uuid = ?%d AND revision = ?%d - 1", k+4, k+3)
	insert = "INSERT INTO nodes (" + strings.Join(names, ", ") + ", doc, sealed, revision, uuid) VALUES (?" +
		strings.Repeat(", ?", k+3) + ")"
	often = "UPDATE nodes SET " + strings.Join(append(changing, last),
		", ") + which + " AND " + strings.Join(seldom, " AND ")
	// A node that was deleted and enrolled again under its UUID must not be overwritten, although it may be at the same
	// revision. Its created_at differs.
	whole = "UPDATE nodes SET " + strings.Join(append(append(seldom, changing...), last), ", ") + which + created
	return insert, often, whole
}

// nodeArgs are the arguments of those statements. It notes that the node is about
// to be written.
func (t *tx) nodeArgs(n *node.Node) ([]any, error) {
	doc, envelope, err := t.seal.encode("nodes", n.UUID, n)
	if err != nil {
		return nil, fmt.Errorf("encode node %s: %w", n.UUID, err)
	}
	t.nodes = append(t.nodes,
		written{uuid: n.UUID, doc: doc, sealed: envelope, revision: n.Revision, away: !t.ours(n.ConductorGroup)})
	args := make([]any, 0, len(nodeColumns)+4)
	for _, c := range nodeColumns {
		args = append(args, c.value(n))
	}
	return append(args, doc, blob(envelope), n.Revision, n.UUID), nil
}

// blob is NULL for no bytes.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

func (t *tx) insertNode(n *node.Node) error {
	if !t.ours(n.ConductorGroup) {
		return &node.OtherGroupError{Node: n.UUID, Group: n.ConductorGroup}
	}
	args, err := t.nodeArgs(n)
	if err != nil {
		return err
	}
	if err := t.machineFree(n); err != nil {
		return err
	}
	_, err = t.exec(insertNode, args...)
	return nodeTaken(n, err)
}

// saveNode stores n with its new revision over the revision before it.
func (t *tx) saveNode(n *node.Node) error {
	args, err := t.nodeArgs(n)
	if err != nil {
		return err
	}
	var touched int64
	if t.ours(n.ConductorGroup) { // and was so, where this finds it
		touched, err = t.exec(saveOften, args...)
	}
	if err == nil && touched == 0 {
		if err := t.checkGroup(n.UUID); err != nil {
			return err
		}
		if err := t.machineFree(n); err != nil {
			return err
		}
		touched, err = t.exec(saveWhole, args...)
	}
	if err != nil || touched == 1 {
		return nodeTaken(n, err)
	}
	found, err := t.exists("SELECT 1 FROM nodes WHERE uuid = ?", n.UUID)
	switch {
	case err != nil:
		return err
	case !found:
		return noNode(n.UUID)
	}
	return fmt.Errorf("save node %s at revision %d: %w: read it again", n.UUID, n.Revision-1, node.ErrStale)
}

// deleteNode deletes a node of this revision, of any when that is 0. Its dependent rows go
// along (the schema cascades).
func (t *tx) deleteNode(uuid string, revision int64) error {
	if err := t.checkGroup(uuid); err != nil {
		return err
	}
	t.nodes = append(t.nodes, written{uuid: uuid})
	touched, err := t.exec("DELETE FROM nodes WHERE uuid = ?1 AND CAST(?2 AS BIGINT) IN (0, revision)", uuid, revision)
	if err != nil || touched == 1 {
		return err
	}
	found, err := t.exists("SELECT 1 FROM nodes WHERE uuid = ?", uuid)
	switch {
	case err != nil:
		return err
	case !found:
		return noNode(uuid)
	}
	return fmt.Errorf("delete node %s at revision %d: %w: read it again", uuid, revision, node.ErrStale)
}

// nodeTaken words an index's refusal as Ironic does.
func nodeTaken(n *node.Node, err error) error {
	col, ok := taken(err)
	switch {
	case orphan(err):
		return node.Refuse(node.Invalid, "Chassis %s could not be found.", n.ChassisUUID)
	case !ok:
		return err
	case col == "nodes.name":
		return node.Refuse(node.Conflict, "A node with name %s already exists.", n.Name)
	case col == "nodes.instance_uuid":
		return node.Refuse(node.Conflict, "Instance %s is already associated with a node, "+
			"it cannot be associated with this other node %s", n.InstanceUUID, n.UUID)
	case col == "nodes.machine":
		m, _ := n.HeldMachine()
		return &node.MachineTakenError{Machine: m}
	}
	return node.Refuse(node.Conflict, "A node with UUID %s already exists.", n.UUID)
}

func noNode(ref string) error {
	return node.Refuse(node.NotFound, "Node %s could not be found.", ref)
}

const selectNode = "SELECT " + nodeRowColumns + " FROM nodes WHERE uuid = ?"

// Node finds a node by UUID or name.
func (s *Database) Node(ctx context.Context, ref string) (node.Node, error) {
	found, known := s.cache.current(ref)
	if !known {
		var err error
		found, err = s.readNode(ctx, ref)
		s.cache.leave(ref, found)
		if err != nil {
			return node.Node{}, err
		}
	}
	found, err := s.cache.decode(ref, found)
	if err != nil {
		return node.Node{}, err
	}
	return found.node.Clone(), nil
}

func (s *Database) readNode(ctx context.Context, ref string) (*cached, error) {
	var r nodeRow
	err := s.read.row(ctx, r.places(), selectNode, ref)
	if errors.Is(err, sql.ErrNoRows) && ref != "" {
		err = s.read.row(ctx, r.places(), "SELECT "+nodeRowColumns+" FROM nodes WHERE name = ? AND name <> ''", ref)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noNode(ref)
	}
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", ref, err)
	}
	return s.cache.decoded(&r)
}

// Nodes lists nodes. Their contents are shared with the cache. If some cannot be decoded, it lists the others and
// returns a *node.UnreadableError.
func (s *Database) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	rows, err := s.nodeRows(ctx, q)
	if err != nil {
		return nil, err
	}
	nodes := slices.Grow([]node.Node(nil), len(rows)) // nil for none
	bad := unread{kind: "node"}
	for i := range rows {
		found, err := s.cache.decoded(&rows[i])
		if bad.look(rows[i].uuid, err) {
			nodes = append(nodes, *found.node)
		}
	}
	return nodes, bad.err()
}

// nodeRows reads all rows before any is decoded: there are but a few readers.
func (s *Database) nodeRows(ctx context.Context, q node.Query) (found []nodeRow, err error) {
	err = s.listNodes(ctx, nodeRowColumns, q, func(rows *sql.Rows) error {
		var r nodeRow
		if err := rows.Scan(r.places()...); err != nil {
			return err
		}
		found = append(found, r)
		return nil
	})
	return found, err
}

// NodeSizes lists nodes by their UUIDs, with the bytes that each has in the database.
func (s *Database) NodeSizes(ctx context.Context, q node.Query) (all []node.Sized, err error) {
	err = s.listNodes(ctx, "uuid, "+storedBytes("nodes"), q, func(rows *sql.Rows) error {
		var n node.Sized
		if err := rows.Scan(&n.UUID, &n.Bytes); err != nil {
			return err
		}
		n.UUID = s.dialect.read(n.UUID)
		all = append(all, n)
		return nil
	})
	return all, err
}

// NodeUUIDs lists the UUIDs of nodes.
func (s *Database) NodeUUIDs(ctx context.Context, q node.Query) (uuids []string, err error) {
	err = s.listNodes(ctx, "uuid", q, func(rows *sql.Rows) error {
		var uuid string
		if err := rows.Scan(&uuid); err != nil {
			return err
		}
		uuids = append(uuids, s.dialect.read(uuid))
		return nil
	})
	return uuids, err
}

// listNodes calls scan for the columns of each node.
func (s *Database) listNodes(
	ctx context.Context, columns string, q node.Query, scan func(rows *sql.Rows) error,
) error {
	if q.Marker != "" {
		exists, err := s.read.texts(ctx, "SELECT uuid FROM nodes WHERE uuid = ?", q.Marker)
		if err != nil {
			return fmt.Errorf("read node %s: %w", q.Marker, err)
		}
		if len(exists) == 0 {
			return noNode(q.Marker)
		}
	}
	sel, err := selectNodes(s.dialect, columns, &q)
	if err != nil {
		return err
	}
	if err := s.read.list(ctx, sel, scan); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	return nil
}
