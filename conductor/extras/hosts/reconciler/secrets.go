package reconciler

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// claim reads a secret that a host names, and marks it so that it stays as long as the host needs it. A secret with a
// lost key can be neither read nor marked.
func (r *Reconciler) claim(ctx context.Context, h hostapi.Host, name string) (hostapi.Secret, error) {
	return r.mark(ctx, h.Namespace, name, func(s hostapi.Secret) (hostapi.Secret, bool) { return host.Claim(h, s) })
}

// unclaim releases a secret that no host holds any more, except for the host except; zero for none. The secret may be
// gone, or may never have been held.
func (r *Reconciler) unclaim(ctx context.Context, namespace, name string, except key) error {
	if r.known.isHeld(namespace, name, except) {
		return nil
	}
	_, err := r.mark(ctx, namespace, name, host.Unclaim)
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

// unclaimAll releases all that a host has held which is about to be deleted.
func (r *Reconciler) unclaimAll(ctx context.Context, h hostapi.Host) error {
	for _, name := range host.HeldSecrets(h) {
		if err := r.unclaim(ctx, h.Namespace, name, keyOf(h)); err != nil {
			return err
		}
	}
	return nil
}

// mark changes the marks of a secret, and repeats that when other clients write at the same time.
func (r *Reconciler) mark(ctx context.Context, namespace, name string,
	change func(hostapi.Secret) (hostapi.Secret, bool)) (hostapi.Secret, error) {
	for {
		s, err := objects.Get[hostapi.Secret](ctx, r.Documents, namespace, name)
		if err != nil {
			return s, err
		}
		marked, differs := change(s)
		if !differs {
			return s, nil
		}
		saved, err := objects.Save(ctx, r.Documents, marked)
		switch {
		case err == nil:
			return saved, nil
		case errors.Is(err, objects.ErrForbidden):
			return s, nil
		case !errors.Is(err, objects.ErrConflict):
			return s, fmt.Errorf("mark the secret %s/%s: %w", namespace, name, err)
		}
	}
}

// releaseOrphanedSecrets releases all secrets that are held for hosts that were deleted while no reconciler ran.
func (r *Reconciler) releaseOrphanedSecrets(ctx context.Context) error {
	all, _, err := objects.List[hostapi.Secret](ctx, r.Documents, "")
	if err = r.skipUnreadable(err); err != nil {
		return err
	}
	for _, s := range all {
		if _, held := host.Unclaim(s); held {
			if err := r.unclaim(ctx, s.Namespace, s.Name, key{}); err != nil {
				return err
			}
		}
	}
	return nil
}
