package records

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Records keeps the records that operators keep beside nodes: ports, portgroups, VIFs, traits, volumes, templates,
// runbooks and allocations.
type Records struct {
	*core.Core
	wiring       sync.Mutex // held while ports and portgroups are checked against each other and written
	wakeAllocate chan struct{}
}

// New makes the records beside a core.
func New(c *core.Core) *Records {
	return &Records{Core: c, wakeAllocate: make(chan struct{}, 1)}
}

// Catalog is the records of one type as operators use them. A ref is a UUID or
// a name.
type Catalog[T any] interface {
	// List returns records in the order of creation: all for column "", else the records with one of these values as
	// their key in the column.
	List(ctx context.Context, column string, values ...string) ([]T, error)
	// Each calls f for the records of the query, a few in memory at a time, until f returns false.
	Each(ctx context.Context, q node.RecordQuery, f func(*T) bool) error
	Find(ctx context.Context, ref string) (T, error)
	// Create stores a new record. UUID, revision and times are filled in.
	Create(ctx context.Context, v T) (T, error)
	// Update edits a record. edit may run more than once and may return a Refusal. Running work keeps the record as it
	// was when the work began.
	Update(ctx context.Context, ref string, edit func(*T) error) (T, error)
	Delete(ctx context.Context, ref string) error
}

// Catalogs is a catalog for each type of record.
type Catalogs struct {
	DeployTemplates  Catalog[node.DeployTemplate]
	Runbooks         Catalog[node.Runbook]
	Allocations      Catalog[node.Allocation]
	Chassis          Catalog[node.Chassis]
	Portgroups       Catalog[node.Portgroup]
	VolumeConnectors Catalog[node.VolumeConnector]
	VolumeTargets    Catalog[node.VolumeTarget]
	InspectionRules  Catalog[node.InspectionRule]
	Images           Catalog[node.Image]
}

// Catalogs returns the catalogs of the records that operators keep beside nodes.
func (e *Records) Catalogs() Catalogs {
	kept := e.kept()
	return Catalogs{
		DeployTemplates: catalog[node.DeployTemplate, *node.DeployTemplate]{kept.DeployTemplates, e},
		Runbooks:        catalog[node.Runbook, *node.Runbook]{kept.Runbooks, e},
		Allocations:     allocations{catalog[node.Allocation, *node.Allocation]{kept.Allocations, e}},
		Chassis:         catalog[node.Chassis, *node.Chassis]{kept.Chassis, e},
		Portgroups:      portgroups{catalog[node.Portgroup, *node.Portgroup]{kept.Portgroups, e}},
		VolumeConnectors: volumes[node.VolumeConnector, *node.VolumeConnector]{
			catalog[node.VolumeConnector, *node.VolumeConnector]{kept.VolumeConnectors, e},
		},
		VolumeTargets: volumes[node.VolumeTarget, *node.VolumeTarget]{
			catalog[node.VolumeTarget, *node.VolumeTarget]{kept.VolumeTargets, e},
		},
		InspectionRules: catalog[node.InspectionRule, *node.InspectionRule]{kept.InspectionRules, e},
		Images:          catalog[node.Image, *node.Image]{kept.Images, e},
	}
}

// kept is the store's catalogs, each write of which commits an event.
func (e *Records) kept() node.Catalogs {
	c := e.Store.Catalogs()
	c.DeployTemplates = core.WithEvents(e.Core, c.DeployTemplates)
	c.Runbooks = core.WithEvents(e.Core, c.Runbooks)
	c.Allocations = core.WithEvents(e.Core, c.Allocations)
	c.Chassis = core.WithEvents(e.Core, c.Chassis)
	c.Portgroups = core.WithEvents(e.Core, c.Portgroups)
	c.VolumeConnectors = core.WithEvents(e.Core, c.VolumeConnectors)
	c.VolumeTargets = core.WithEvents(e.Core, c.VolumeTargets)
	c.InspectionRules = core.WithEvents(e.Core, c.InspectionRules)
	c.Images = core.WithEvents(e.Core, c.Images)
	return c
}

// catalog fills in fields, checks records, and retries a write that lost a race.
type catalog[T any, P node.Recorded[T]] struct {
	node.Catalog[T]
	e *Records
}

// Create stores a new record.
func (c catalog[T, P]) Create(ctx context.Context, v T) (T, error) {
	head := P(&v).Head()
	if head.UUID == "" {
		head.UUID = uuid.NewString()
	}
	head.CreatedAt, head.UpdatedAt = c.e.Now(), nil
	if err := P(&v).Check(); err != nil {
		return v, err
	}
	return c.Insert(ctx, v)
}

// Update edits a record.
func (c catalog[T, P]) Update(ctx context.Context, ref string, edit func(*T) error) (T, error) {
	return core.Again(func() (T, error) {
		_, v, err := c.edited(ctx, ref, edit)
		if err != nil {
			return v, err
		}
		return c.Save(ctx, v)
	})
}

// edited is a record as it is, and as it would be with an edit.
func (c catalog[T, P]) edited(ctx context.Context, ref string, edit func(*T) error) (old, v T, err error) {
	if old, err = c.Find(ctx, ref); err != nil {
		return old, old, err
	}
	v = old
	head, now := *P(&old).Head(), c.e.Now()
	if err := edit(&v); err != nil {
		return old, v, err
	}
	head.UpdatedAt = &now
	*P(&v).Head() = head
	return old, v, P(&v).Check()
}

// Delete removes a record, by UUID or name.
func (c catalog[T, P]) Delete(ctx context.Context, ref string) error {
	v, err := c.Find(ctx, ref)
	if err != nil {
		return err
	}
	return c.Catalog.Delete(ctx, P(&v).Head().UUID)
}
