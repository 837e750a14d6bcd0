package mem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// catalog keeps records that have a unique name and belong to no node.
type catalog[T any] struct {
	table[T]
	kind  string // for people
	label func(v *T) (uuid, name string, revision *int64)
}

func newTemplates() catalog[node.DeployTemplate] {
	return catalog[node.DeployTemplate]{newTable[node.DeployTemplate](), "deploy template", func(t *node.DeployTemplate) (string, string, *int64) {
		return t.UUID, t.Name, &t.Revision
	}}
}

func newRunbooks() catalog[node.Runbook] {
	return catalog[node.Runbook]{newTable[node.Runbook](), "runbook", func(r *node.Runbook) (string, string, *int64) {
		return r.UUID, r.Name, &r.Revision
	}}
}

func (c *catalog[T]) missing(ref string) error {
	return node.Refuse(node.NotFound, "%s%s %s could not be found.", strings.ToUpper(c.kind[:1]), c.kind[1:], ref)
}

func (c *catalog[T]) name(v *T) string {
	_, name, _ := c.label(v)
	return name
}

// list copies those that are wanted, in the order of creation.
func (c *catalog[T]) list(ctx context.Context, s *Store, wanted func(v *T) bool) ([]T, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var rows []*row[T]
	for _, r := range c.rows {
		if wanted(&r.v) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row[T]) int { return cmp.Compare(a.id, b.id) })
	return cloneRows(rows, 0)
}

func (c *catalog[T]) find(ctx context.Context, s *Store, ref string) (T, error) {
	var none T
	if err := s.lock(ctx); err != nil {
		return none, err
	}
	defer s.mu.Unlock()
	if r := c.rows[ref]; r != nil {
		return clone(r.v)
	}
	for _, r := range c.rows {
		if c.name(&r.v) == ref {
			return clone(r.v)
		}
	}
	return none, c.missing(ref)
}

// insert keeps v, which is a copy of the caller's, as the first of its revisions.
func (c *catalog[T]) insert(ctx context.Context, s *Store, v T) (T, error) {
	var none T
	if err := s.lock(ctx); err != nil {
		return none, err
	}
	defer s.mu.Unlock()
	uuid, _, revision := c.label(&v)
	if c.rows[uuid] != nil {
		return none, node.Refuse(node.Conflict, "A %s with UUID %s already exists.", c.kind, uuid)
	}
	*revision = 1
	return c.keep(v)
}

// save keeps v, which is a copy of the caller's, as the revision after its own.
func (c *catalog[T]) save(ctx context.Context, s *Store, v T) (T, error) {
	var none T
	if err := s.lock(ctx); err != nil {
		return none, err
	}
	defer s.mu.Unlock()
	uuid, _, revision := c.label(&v)
	old := c.rows[uuid]
	if old == nil {
		return none, c.missing(uuid)
	}
	if _, _, kept := c.label(&old.v); *kept != *revision {
		return none, fmt.Errorf("save %s %s at revision %d: %w: read it again", c.kind, uuid, *revision, node.ErrStale)
	}
	*revision++
	return c.keep(v)
}

// keep puts a copy of v, unless its name is another's.
func (c *catalog[T]) keep(v T) (T, error) {
	var none T
	uuid, name, _ := c.label(&v)
	for other, r := range c.rows {
		if other != uuid && c.name(&r.v) == name {
			return none, node.Refuse(node.Conflict, "A %s with name %s already exists.", c.kind, name)
		}
	}
	kept, err := clone(v)
	if err != nil {
		return none, err
	}
	c.put(uuid, kept)
	return v, nil
}

func (c *catalog[T]) remove(ctx context.Context, s *Store, uuid string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if c.rows[uuid] == nil {
		return c.missing(uuid)
	}
	c.drop(uuid)
	return nil
}
