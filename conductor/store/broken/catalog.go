package broken

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Catalogs are the catalogs of the wrapped store. Their methods fail under the name of the catalog: "Runbooks.Save".
func (s *Store) Catalogs() node.Catalogs {
	inner := s.inner.Catalogs()
	return node.Catalogs{
		DeployTemplates:  catalog[node.DeployTemplate]{s, "DeployTemplates", inner.DeployTemplates},
		Runbooks:         catalog[node.Runbook]{s, "Runbooks", inner.Runbooks},
		Allocations:      catalog[node.Allocation]{s, "Allocations", inner.Allocations},
		Chassis:          catalog[node.Chassis]{s, "Chassis", inner.Chassis},
		Portgroups:       catalog[node.Portgroup]{s, "Portgroups", inner.Portgroups},
		VolumeConnectors: catalog[node.VolumeConnector]{s, "VolumeConnectors", inner.VolumeConnectors},
		VolumeTargets:    catalog[node.VolumeTarget]{s, "VolumeTargets", inner.VolumeTargets},
		InspectionRules:  catalog[node.InspectionRule]{s, "InspectionRules", inner.InspectionRules},
		EraseReports:     catalog[node.EraseReport]{s, "EraseReports", inner.EraseReports},
		Images:           catalog[node.Image]{s, "Images", inner.Images},
	}
}

type catalog[T any] struct {
	s     *Store
	name  string
	inner node.Catalog[T]
}

// List lists records, or fails.
func (c catalog[T]) List(ctx context.Context, column string, values ...string) ([]T, error) {
	return answer(c.s, c.name+".List", func() ([]T, error) { return c.inner.List(ctx, column, values...) })
}

// Each lists records, or fails.
func (c catalog[T]) Each(ctx context.Context, q node.RecordQuery, f func(*T) bool) error {
	return nothing(c.s, c.name+".List", func() error { return c.inner.Each(ctx, q, f) })
}

// Find finds a record, or fails.
func (c catalog[T]) Find(ctx context.Context, ref string) (T, error) {
	return answer(c.s, c.name+".Find", func() (T, error) { return c.inner.Find(ctx, ref) })
}

// Insert adds a record, or fails.
func (c catalog[T]) Insert(ctx context.Context, v T) (T, error) {
	return answer(c.s, c.name+".Insert", func() (T, error) { return c.inner.Insert(ctx, v) })
}

// Save replaces a record, or fails.
func (c catalog[T]) Save(ctx context.Context, v T) (T, error) {
	return answer(c.s, c.name+".Save", func() (T, error) { return c.inner.Save(ctx, v) })
}

// Delete removes a record, or fails.
func (c catalog[T]) Delete(ctx context.Context, uuid string) error {
	return nothing(c.s, c.name+".Delete", func() error { return c.inner.Delete(ctx, uuid) })
}
