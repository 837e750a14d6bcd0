package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// gatherImage finds the DataImage of a host. Where a decision needs them, it asks the BMC for the contents of the
// machine's virtual drives.
func (r *Reconciler) gatherImage(ctx context.Context, facts *host.Facts) (err error) {
	if facts.DataImage, err = getIfAny[hostapi.DataImage](ctx, r.Documents, facts.Host.Namespace,
		facts.Host.Name); err != nil {
		return fmt.Errorf("DataImage: %w", err)
	}
	if !host.AsksMedia(*facts) {
		return nil
	}
	slots, err := r.mediaSlots(ctx, facts.Node)
	var refusal *node.Refusal
	switch {
	case err == nil:
		facts.Media = &host.Media{Slots: slots}
	case errors.As(err, &refusal) && refusal.Kind == node.Invalid: // its driver has no virtual drives
		facts.Media = &host.Media{}
	case errors.As(err, &refusal) && (refusal.Kind == node.BMCFailed || refusal.Kind == node.BMCSilent):
		facts.Media = &host.Media{Fault: refusal.Reason}
	default:
		return fmt.Errorf("virtual drives of node %s: %w", facts.Node.UUID, err)
	}
	return nil
}

// releaseImage releases a DataImage without a host.
func (r *Reconciler) releaseImage(ctx context.Context, k key) (requeueAt time.Time, err error) {
	image, err := getIfAny[hostapi.DataImage](ctx, r.Documents, k.namespace, k.name)
	if err != nil {
		return time.Time{}, fmt.Errorf("DataImage: %w", err)
	}
	if image == nil {
		return time.Time{}, nil
	}
	released, held := host.OrphanedImage(*image)
	if !held {
		return time.Time{}, nil
	}
	_, err = objects.Save(ctx, r.Documents, released)
	if errors.Is(err, objects.ErrConflict) || errors.Is(err, objects.ErrNotFound) {
		return time.Time{}, errOvertaken
	}
	return time.Time{}, err
}
