package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// outcome is a decision that was carried out, and the facts it was made of.
type outcome struct {
	key      key
	facts    host.Facts
	decision host.Decision
}

// write is one write that a decision leads to.
type write struct {
	name string
	why  string // the reason for its place
	do   func(*Reconciler, context.Context, outcome) error
}

// writes are made in this order. The first that fails ends them: the host is
// decided on again. A conductor that ends between two of them repeats the first.
var writes = []write{
	{"HardwareData", "the host names hardware that its HardwareData has", (*Reconciler).saveHardware},
	{"released secrets", "a client that waits for the end of the host finds its secrets free",
		(*Reconciler).releaseSecrets},
	{"failed updates", "a failed update is not recorded as done when the host reports the failure",
		(*Reconciler).saveFailedUpdates},
	{"DataImage", "the host's status follows the drive's", (*Reconciler).saveImage},
	{"host", "all above is repeated unless the host is saved", (*Reconciler).saveHost},
	{"events", "events are about a saved host", (*Reconciler).saveEvents},
	{"begun updates", "an update that has begun counts as done once the host reports its action",
		(*Reconciler).saveBegunUpdates},
}

// save makes the writes of a decision, and returns the time of the next look.
func (r *Reconciler) save(ctx context.Context, o outcome) (requeueAt time.Time, err error) {
	for _, w := range writes {
		if err := w.do(r, ctx, o); err != nil {
			return time.Time{}, err
		}
	}
	r.capacity.delayed(o.key, o.facts, o.decision.Host.Status)
	return o.decision.RequeueAt, nil
}

// releaseSecrets releases the secrets of a host that holds none any longer.
func (r *Reconciler) releaseSecrets(ctx context.Context, o outcome) error {
	if len(host.HeldSecrets(o.decision.Host)) > 0 {
		return nil
	}
	return r.unclaimAll(ctx, o.facts.Host)
}

func (r *Reconciler) saveFailedUpdates(ctx context.Context, o outcome) error {
	if o.decision.Action != nil {
		return nil
	}
	return r.saveUpdates(ctx, o.decision.Components)
}

func (r *Reconciler) saveBegunUpdates(ctx context.Context, o outcome) error {
	if o.decision.Action == nil {
		return nil
	}
	return r.saveUpdates(ctx, o.decision.Components)
}

// saveHost writes the host as it becomes. A host that was changed meanwhile is read,
// and decided on, again.
func (r *Reconciler) saveHost(ctx context.Context, o outcome) error {
	if _, err := objects.Save(ctx, r.Documents, o.decision.Host); err != nil {
		return overtaken(err)
	}
	switch was, is := o.facts.Host.Status, o.decision.Host.Status; {
	case is.Provisioning.State != was.Provisioning.State:
		r.Log.Info("host", "host", o.key, "from", was.Provisioning.State, "to", is.Provisioning.State)
	case is.ErrorMessage != was.ErrorMessage && is.ErrorMessage != "":
		r.Log.Warn("host", "host", o.key, "state", is.Provisioning.State, "error", is.ErrorType, "err", is.ErrorMessage,
			"again", o.decision.RequeueAt)
	}
	return nil
}

func (r *Reconciler) saveEvents(_ context.Context, o outcome) error {
	if r.RecordEvents != nil && len(o.decision.Events) > 0 {
		r.RecordEvents(&o.decision.Host, o.decision.Events)
	}
	return nil
}

// overtaken is the error of a write; errOvertaken where another writer was faster.
func overtaken(err error) error {
	if errors.Is(err, objects.ErrConflict) || errors.Is(err, objects.ErrNotFound) {
		return errOvertaken
	}
	return err
}

// saveImage writes the new status of a host's DataImage.
func (r *Reconciler) saveImage(ctx context.Context, o outcome) error {
	image := o.decision.DataImage
	if image == nil {
		return nil
	}
	if _, err := objects.Save(ctx, r.Documents, *image); err != nil {
		return overtaken(fmt.Errorf("DataImage: %w", err))
	}
	was, is := o.facts.DataImage.Status, image.Status
	if is.Error.Message != "" && is.Error != was.Error {
		r.Log.Warn("data image", "host", o.key, "url", image.Spec.URL, "err", is.Error.Message, "times", is.Error.Count)
	}
	return nil
}
