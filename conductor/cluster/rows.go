package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Rows are the rows by which conductors know each other, in the database that they share.
type Rows interface {
	Hold(ctx context.Context) error
	Beat(ctx context.Context, m store.Member) (drained bool, err error)
	// Behind reports whether the database has the schema of a newer build.
	Behind(ctx context.Context) (bool, error)
	Leave(ctx context.Context, name, instance string) error
	Look(ctx context.Context) ([]store.Member, []store.Leader, error)
	Take(ctx context.Context, group, member string, hold time.Duration) (epoch int64, ok bool, err error)
	Renew(ctx context.Context, group string, epoch int64, hold time.Duration) error
	Release(ctx context.Context, group string, epoch int64) error
	// Superseded reports the error of a renewal that came too late.
	Superseded(err error) bool
}

// Database is the rows of a store.
type Database struct{ *store.Members }

// Superseded reports the error of a renewal that came too late.
func (Database) Superseded(err error) bool { return errors.Is(err, store.ErrSuperseded) }
