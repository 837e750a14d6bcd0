package objects

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Propagation is the policy for the documents that a deleted document owns. It is applied in the same transaction.
type Propagation string

// Propagations, in Kubernetes' words. Background is meant by "".
const (
	Background Propagation = "Background" // they go when their owner is gone
	Foreground Propagation = "Foreground" // they go first
	Orphan     Propagation = "Orphan"     // they stay, and have an owner less
)

// foreground is the finalizer of an owner that waits for the documents it owns.
const foreground = "foregroundDeletion"

// DeleteOptions are the preconditions and the policy of a deletion.
type DeleteOptions struct {
	UID             string // it must have, unless ""
	ResourceVersion string // likewise
	Propagation     Propagation
	Dry             bool
}

// Delete deletes a document, or marks it while it has finalizers; gone reports which. It
// returns the document as it was, or as it is now.
func (k *Keeper) Delete(ctx context.Context, key Key, o DeleteOptions) (d hostapi.Document, gone bool, err error) {
	if key.Kind == hostapi.KindNamespace {
		k.namespaces.Lock()
		defer k.namespaces.Unlock()
		if err := k.deletable(ctx, key); err != nil {
			return nil, false, err
		}
	}
	for range tries {
		if d, gone, err = k.remove(ctx, key, o); !errors.Is(err, ErrStale) {
			return d, gone, err
		}
	}
	return nil, false, conflict(key)
}

func (k *Keeper) remove(ctx context.Context, key Key, o DeleteOptions) (hostapi.Document, bool, error) {
	row, err := k.row(ctx, key)
	if err != nil {
		return nil, false, err
	}
	if err := unchanged(row, o.UID, o.ResourceVersion); err != nil {
		return nil, false, err
	}
	b := k.batch(ctx)
	c, err := b.of(row)
	if err != nil {
		return nil, false, err
	}
	if o.Propagation == "" {
		o.Propagation = Background
	}
	if err := b.remove(c, o.Propagation); err != nil {
		return nil, false, err
	}
	if !o.Dry {
		if err := b.commit(); err != nil {
			return nil, false, err
		}
	}
	if c.new == nil {
		return c.old, true, nil
	}
	return c.new, false, nil
}

// deletable refuses to delete a namespace that is not empty: hosts are machines, and one request must not delete so
// many of them.
func (k *Keeper) deletable(ctx context.Context, key Key) error {
	if key.Name == hostapi.DefaultNamespace {
		return refuse(key, ErrForbidden, "cannot be deleted: documents that name no namespace are in it")
	}
	if _, err := k.row(ctx, key); err != nil {
		return err
	}
	rows, _, err := k.store.Objects(ctx, Query{Namespace: key.Name, Limit: 1})
	if err != nil {
		return fmt.Errorf("look into %s: %w", key, err)
	}
	if len(rows) > 0 {
		return refuse(key, ErrConflict, "is not empty, there is %s in it: delete its content first", rows[0].Key)
	}
	return nil
}
