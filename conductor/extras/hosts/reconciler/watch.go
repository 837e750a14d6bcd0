package reconciler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// watch enqueues hosts as their documents change, until ctx ends. A watch that falls
// behind begins anew with all hosts.
func (r *Reconciler) watch(ctx context.Context) {
	for ctx.Err() == nil {
		err := r.listAndWatch(ctx)
		if ctx.Err() != nil || errors.Is(err, objects.ErrExpired) {
			continue
		}
		r.Log.Error("hosts cannot be followed; tried again soon", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(brokenPause):
		}
	}
}

// listAndWatch lists all hosts, and then handles events.
func (r *Reconciler) listAndWatch(ctx context.Context) error {
	all, revision, err := objects.List[hostapi.Host](ctx, r.Documents, "")
	if err = r.skipUnreadable(err); err != nil {
		return err
	}
	// The order of creation decides which host was first, as it did before a restart.
	slices.SortStableFunc(all, func(a, b hostapi.Host) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	there := map[key]bool{}
	for _, h := range all {
		there[keyOf(h)] = true
		r.known.update(h)
	}
	// before hosts hold more than is recorded here
	freed, swept := r.removeMissing(there), r.releaseOrphanedSecrets(ctx)
	for _, h := range all {
		r.enqueue(keyOf(h))
	}
	r.enqueue(freed...)
	images, _, err := objects.List[hostapi.DataImage](ctx, r.Documents, "")
	if err := errors.Join(r.skipUnreadable(err), swept); err != nil {
		return err
	}
	for _, i := range images {
		r.enqueue(key{i.Namespace, i.Name})
	}
	if err := r.listFollowed(ctx); err != nil {
		return err
	}
	w, err := r.Documents.Watch(objects.Filter{}, revision)
	if err != nil {
		return err
	}
	for {
		e, err := w.Next(ctx)
		if err != nil {
			return err
		}
		if err := r.handleEvent(ctx, e); err != nil {
			return err
		}
	}
}

// removeMissing drops the known hosts that are not there, and returns the hosts that this frees.
func (r *Reconciler) removeMissing(there map[key]bool) (freed []key) {
	for _, gone := range r.known.missingFrom(there) {
		freed = append(freed, r.known.remove(gone)...)
	}
	return freed
}

// enqueue has hosts reconciled now.
func (r *Reconciler) enqueue(keys ...key) {
	for _, k := range keys {
		r.queue.add(k, r.Now())
	}
}

// handleEvent takes one change of a document, and lets the secrets go that are held
// no more because of it.
func (r *Reconciler) handleEvent(ctx context.Context, e objects.Event) error {
	k := key{e.Key.Namespace, e.Key.Name}
	defer r.follow(k, e)
	if e.Key.Kind == hostapi.KindSecret {
		if err := r.secretChanged(k, e); err != nil {
			return err
		}
		return r.unclaim(ctx, k.namespace, k.name, key{})
	}
	held := r.known.heldSecrets(k)
	if err := r.handleDocument(k, e); err != nil {
		return err
	}
	holds := r.known.heldSecrets(k)
	for _, name := range held {
		if slices.Contains(holds, name) {
			continue
		}
		if err := r.unclaim(ctx, k.namespace, name, key{}); err != nil {
			return err
		}
	}
	return nil
}

// handleDocument handles an event of a document that is not a secret.
func (r *Reconciler) handleDocument(k key, e objects.Event) error {
	switch {
	case e.Key.Kind == hostapi.KindDataImage:
		r.enqueue(k)
	case slices.Contains([]string{hostapi.KindFirmwareSettings, hostapi.KindFirmwareComponents, hostapi.KindUpdatePolicy},
		e.Key.Kind):
		d, err := e.Document()
		if err != nil {
			return err
		}
		if e.Type == objects.Deleted || firmware.Unseen(d) {
			r.enqueue(k)
		}
	case e.Key.Kind != hostapi.KindHost:
	case e.Type == objects.Deleted:
		r.waits.forget(k)
		r.enqueue(append(r.known.remove(k), k)...) // the host too: it may leave an image behind
	default:
		d, err := e.Document()
		if err != nil {
			return err
		}
		h, ok := d.(*hostapi.Host)
		if !ok {
			return nil
		}
		userChanged, freed := r.known.update(*h)
		if userChanged {
			r.enqueue(k)
		}
		r.enqueue(freed...)
	}
	return nil
}
