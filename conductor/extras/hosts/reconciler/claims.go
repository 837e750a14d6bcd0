package reconciler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/claim"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// lookAtClaim does the next thing for one HostClaim.
func (r *Reconciler) lookAtClaim(ctx context.Context, k key) (n next, err error) {
	c, err := getIfAny[hostapi.HostClaim](ctx, r.Documents, k.namespace, k.name)
	if c == nil || err != nil {
		return n, err
	}
	if !slices.Contains(c.Finalizers, hostapi.HostClaimFinalizer) {
		if c.DeletionTimestamp == nil {
			c.Finalizers = append(c.Finalizers, hostapi.HostClaimFinalizer)
			_, err = objects.Save(ctx, r.Documents, *c) // the event causes the next look
		}
		return n, overtaken(err)
	}
	facts := claim.Facts{Claim: *c, Secrets: map[string]hostapi.Secret{}, Now: r.Now()}
	if facts.Host, err = r.hostOfClaim(ctx, *c); err != nil {
		return n, err
	}
	if facts.Host == nil && c.DeletionTimestamp == nil && !claim.Lost(*c) {
		if bound, err := r.bind(ctx, *c); bound || err != nil {
			return next{at: r.Now()}, err
		}
		n = next{at: r.Now().Add(idleRequeue), on: []string{aFreeHost, aPolicy}}
	}
	if b := c.Status.BareMetalHost; b != nil {
		n.on = append(n.on, changeOf(hostapi.KindHost, key{b.Namespace, b.Name}))
	}
	if h := facts.Host; h != nil {
		n.on = append(n.on, changeOf(hostapi.KindHost, keyOf(*h)))
	}
	for _, name := range claim.SecretNames(*c) {
		n.on = append(n.on, changeOf(hostapi.KindSecret, key{k.namespace, name}))
		secret, err := getIfAny[hostapi.Secret](ctx, r.Documents, k.namespace, name)
		if err != nil {
			return n, fmt.Errorf("secret %s: %w", name, err)
		}
		if secret != nil {
			facts.Secrets[name] = *secret
		}
	}
	return n, r.saveClaim(ctx, facts, claim.Decide(facts))
}

// hostOfClaim is the host with a consumerRef that names a claim: the one in its status, or another one if the status
// was lost; nil for none.
func (r *Reconciler) hostOfClaim(ctx context.Context, c hostapi.HostClaim) (*hostapi.Host, error) {
	var keys []key
	if b := c.Status.BareMetalHost; b != nil {
		keys = append(keys, key{b.Namespace, b.Name})
	}
	consumer := key{c.Namespace, c.Name}
	keys = append(keys, r.known.hostsWith(func(_ key, e *entry) bool { return e.consumer == consumer })...)
	for _, at := range keys {
		h, err := getIfAny[hostapi.Host](ctx, r.Documents, at.namespace, at.name)
		if err != nil || h != nil && claim.BoundTo(*h, c) {
			return h, err
		}
	}
	return nil, nil //nolint:nilnil // no host is no mistake
}

// bind binds a free host to a claim. The claim's status names the host before its consumerRef names the claim: a
// conductor that ends in between finds the same host again, and never a second one. The status alone binds nothing, so
// a host that it names must be allowed as any other.
func (r *Reconciler) bind(ctx context.Context, c hostapi.HostClaim) (bound bool, err error) {
	rules, err := r.rules(ctx, c.Namespace)
	if err != nil {
		return false, err
	}
	free := r.known.free()
	if b := c.Status.BareMetalHost; b != nil { // chosen before
		i := slices.IndexFunc(free, func(h claim.Candidate) bool { return h.Namespace == b.Namespace && h.Name == b.Name })
		if i >= 0 && rules.Allow(c, free[i]) {
			return r.take(ctx, c, key{b.Namespace, b.Name})
		}
	}
	chosen, ok := rules.Choose(c, free, rand.IntN)
	if !ok {
		return false, nil
	}
	c.Status.BareMetalHost = &hostapi.BoundReference{Namespace: chosen.Namespace, Name: chosen.Name}
	if c, err = objects.Save(ctx, r.Documents, c); err != nil {
		return false, overtaken(err)
	}
	return r.take(ctx, c, key{chosen.Namespace, chosen.Name})
}

// take writes a claim into the consumerRef of a host, if it still is free.
func (r *Reconciler) take(ctx context.Context, c hostapi.HostClaim, k key) (bound bool, err error) {
	h, err := objects.Get[hostapi.Host](ctx, r.Documents, k.namespace, k.name)
	if err == nil && !claim.Free(h) {
		r.known.taken(k)
		return false, errOvertaken
	}
	if err == nil {
		_, err = objects.Save(ctx, r.Documents, claim.Bind(h, c))
	}
	if err != nil {
		return false, overtaken(err)
	}
	r.known.taken(k)
	r.Log.Info("host bound to a claim", "host", k, "document", key{c.Namespace, c.Name})
	return true, nil
}

// rules are the documents that decide about the claims of a namespace.
func (r *Reconciler) rules(ctx context.Context, namespace string) (rules claim.Rules, err error) {
	rules.Policies, _, err = objects.List[hostapi.HostDeployPolicy](ctx, r.Documents, "")
	if err = r.skipUnreadable(err); err != nil {
		return rules, err
	}
	ns, err := getIfAny[hostapi.Namespace](ctx, r.Documents, "", namespace)
	if ns != nil {
		rules.Labels = ns.Labels
	}
	return rules, err
}

// saveClaim writes the documents of a decision: the host's secrets before the host that names them, and the claim last,
// since all is repeated unless it is saved.
func (r *Reconciler) saveClaim(ctx context.Context, f claim.Facts, d claim.Decision) error {
	for _, s := range d.Copies {
		if err := r.saveCopy(ctx, s); err != nil {
			return fmt.Errorf("copy of a secret of the claim: %w", err)
		}
	}
	if d.Host != nil {
		if _, err := objects.Save(ctx, r.Documents, *d.Host); err != nil {
			return overtaken(err)
		}
	}
	for _, name := range d.Discard {
		_, _, err := objects.Delete[hostapi.Secret](ctx, r.Documents, f.Host.Namespace, name, objects.DeleteOptions{})
		if err != nil && !errors.Is(err, objects.ErrNotFound) {
			return fmt.Errorf("delete the copy of a secret of the claim: %w", err)
		}
	}
	if reflect.DeepEqual(d.Claim, f.Claim) {
		return nil
	}
	_, err := objects.Save(ctx, r.Documents, d.Claim)
	return overtaken(err)
}

// saveCopy writes the copy of a secret, unless it is so already. A secret of that name that is no copy of this claim's
// stays as it is.
func (r *Reconciler) saveCopy(ctx context.Context, s hostapi.Secret) error {
	is, err := getIfAny[hostapi.Secret](ctx, r.Documents, s.Namespace, s.Name)
	switch {
	case err != nil:
		return err
	case is == nil:
		_, err = objects.Create(ctx, r.Documents, s)
		return overtaken(err)
	case is.Annotations[claim.AnnotationClaim] != s.Annotations[claim.AnnotationClaim]:
		return fmt.Errorf("the secret %s/%s is there already, and is no copy: delete it", s.Namespace, s.Name)
	case reflect.DeepEqual(is.Data, s.Data):
		return nil
	}
	is.Data = s.Data
	_, err = objects.Save(ctx, r.Documents, *is)
	return overtaken(err)
}
