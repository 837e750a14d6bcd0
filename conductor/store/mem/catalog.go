package mem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// newCatalogs makes an empty catalog for each type of record.
func newCatalogs(s *Store) node.Catalogs {
	s.allocations, s.portgroups = newCatalog[node.Allocation](s), newCatalog[node.Portgroup](s)
	s.eraseReports = newCatalog[node.EraseReport](s)
	s.connectors, s.targets = newCatalog[node.VolumeConnector](s), newCatalog[node.VolumeTarget](s)
	return node.Catalogs{
		DeployTemplates:  newCatalog[node.DeployTemplate](s),
		Runbooks:         newCatalog[node.Runbook](s),
		Allocations:      s.allocations,
		Chassis:          newCatalog[node.Chassis](s),
		Portgroups:       s.portgroups,
		VolumeConnectors: s.connectors,
		VolumeTargets:    s.targets,
		InspectionRules:  newCatalog[node.InspectionRule](s),
		EraseReports:     s.eraseReports,
		Images:           newCatalog[node.Image](s),
	}
}

// Catalogs is a catalog for each type of record.
func (s *Store) Catalogs() node.Catalogs { return s.catalogs }

// catalog keeps the records of one type.
type catalog[T any, P node.Recorded[T]] struct {
	table[T]
	s *Store
}

// newCatalog makes an empty one, which goes along with the deletion of nodes.
func newCatalog[T any, P node.Recorded[T]](s *Store) *catalog[T, P] {
	c := &catalog[T, P]{newTable[T](), s}
	s.cascades = append(s.cascades, c.dropOf)
	if holder, ok := any(P(new(T))).(node.Holder); ok {
		s.hold(holder, func(uuid string) bool { return c.rows[uuid] != nil })
	}
	return c
}

func (c *catalog[T, P]) missing(ref string) error {
	kind := P(new(T)).Kind()
	return node.Refuse(node.NotFound, "%s%s %s could not be found.", strings.ToUpper(kind[:1]), kind[1:], ref)
}

// key is the value of a record in a column.
func (c *catalog[T, P]) key(v *T, column string) string {
	for _, k := range P(v).Keys() {
		if k.Column == column {
			return k.Value
		}
	}
	return ""
}

// List copies those that are wanted, in the order of creation.
func (c *catalog[T, P]) List(ctx context.Context, column string, values ...string) ([]T, error) {
	return c.listed(ctx, node.RecordQuery{Column: column, Values: values})
}

// Each calls f for copies of those that are wanted, until it returns false.
func (c *catalog[T, P]) Each(ctx context.Context, q node.RecordQuery, f func(*T) bool) error {
	all, err := c.listed(ctx, q)
	for i := range all {
		if !f(&all[i]) {
			break
		}
	}
	return err
}

func (c *catalog[T, P]) listed(ctx context.Context, q node.RecordQuery) ([]T, error) {
	if err := c.s.lock(ctx); err != nil {
		return nil, err
	}
	defer c.s.mu.Unlock()
	after := int64(0)
	if q.After != "" {
		r := c.rows[q.After]
		if r == nil {
			return nil, c.missing(q.After)
		}
		after = r.id
	}
	var rows []*row[T]
	for _, r := range c.rows {
		value := c.key(&r.v, q.Column)
		if r.id > after && (q.Column == "" || value != "" && slices.Contains(q.Values, value)) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row[T]) int { return cmp.Compare(a.id, b.id) })
	return cloneRows(rows, 0), nil
}

// Find copies the record with this UUID, or else this name.
func (c *catalog[T, P]) Find(ctx context.Context, ref string) (T, error) {
	var none T
	if err := c.s.lock(ctx); err != nil {
		return none, err
	}
	defer c.s.mu.Unlock()
	if r := c.rows[ref]; r != nil {
		return clone(r.v), nil
	}
	for _, r := range c.rows {
		if name := c.key(&r.v, "name"); name != "" && name == ref {
			return clone(r.v), nil
		}
	}
	return none, c.missing(ref)
}

// Insert keeps v, which is a copy of the caller's, as the first of its revisions.
func (c *catalog[T, P]) Insert(ctx context.Context, v T) (T, error) { return c.write(ctx, v, c.insert) }

// Save keeps v, which is a copy of the caller's, as the revision after its own.
func (c *catalog[T, P]) Save(ctx context.Context, v T) (T, error) { return c.write(ctx, v, c.save) }

// write makes one write under the lock, and returns v when it was written.
func (c *catalog[T, P]) write(ctx context.Context, v T, run func(P) (undo func(), err error)) (T, error) {
	var none T
	if err := c.s.lock(ctx); err != nil {
		return none, err
	}
	defer c.s.mu.Unlock()
	if _, err := run(&v); err != nil {
		return none, err
	}
	c.s.events.add(node.EventsOf(ctx)...)
	return v, nil
}

func (c *catalog[T, P]) insert(v P) (undo func(), err error) {
	head := v.Head()
	if c.rows[head.UUID] != nil {
		return nil, node.Refuse(node.Conflict, "%s", node.Exists(v.Kind(), "UUID", head.UUID))
	}
	head.Revision = 1
	return c.keep(v)
}

func (c *catalog[T, P]) save(v P) (undo func(), err error) {
	head := v.Head()
	old := c.rows[head.UUID]
	if old == nil {
		return nil, c.missing(head.UUID)
	}
	// made again under its UUID
	if was := P(&old.v).Head(); was.Revision != head.Revision || !was.CreatedAt.Equal(head.CreatedAt) {
		return nil, fmt.Errorf("save %s %s at revision %d: %w: read it again", v.Kind(), head.UUID, head.Revision,
			node.ErrStale)
	}
	head.Revision++
	return c.keep(v)
}

// keep puts a copy of v, unless one of its keys is another's or its node is
// nowhere.
func (c *catalog[T, P]) keep(v P) (undo func(), err error) {
	uuid := v.Head().UUID
	for _, k := range v.Keys() {
		if k.Column == "node_uuid" && k.Value != "" && c.s.nodes.rows[k.Value] == nil {
			return nil, noNode(k.Value)
		}
		for other, r := range c.rows {
			if other != uuid && k.Taken != "" && k.Value != "" && c.key(&r.v, k.Column) == k.Value {
				return nil, node.Refuse(node.Conflict, "%s", k.Taken)
			}
		}
	}
	kept, err := sealed(*v)
	if err != nil {
		return nil, err
	}
	return c.put(uuid, kept), nil
}

// Delete forgets a record.
func (c *catalog[T, P]) Delete(ctx context.Context, uuid string) error {
	if err := c.s.lock(ctx); err != nil {
		return err
	}
	defer c.s.mu.Unlock()
	if _, err := c.remove(uuid); err != nil {
		return err
	}
	c.s.events.add(node.EventsOf(ctx)...)
	return nil
}

// remove forgets a record that exists and is named by no other.
func (c *catalog[T, P]) remove(uuid string) (undo func(), err error) {
	if c.rows[uuid] == nil {
		return nil, c.missing(uuid)
	}
	if holder, ok := any(P(new(T))).(node.Holder); ok && c.s.named(holder.Holds(), uuid) {
		return nil, node.Refuse(node.Invalid, "Cannot complete the requested action because %s %s contains %s.",
			P(new(T)).Kind(), uuid, holder.Holds())
	}
	return c.drop(uuid), nil
}

// putAt inserts a record of revision 0, and saves any other. v is a copy of the caller's.
func (c *catalog[T, P]) putAt(v T) (undo func(), err error) {
	if P(&v).Head().Revision == 0 {
		return c.insert(&v)
	}
	return c.save(&v)
}

// dropOf forgets the records of a node, and returns how to undo that.
func (c *catalog[T, P]) dropOf(nodeUUID string) (undo []func()) {
	for uuid, r := range c.rows {
		if c.key(&r.v, "node_uuid") == nodeUUID {
			undo = append(undo, c.drop(uuid))
		}
	}
	return undo
}
