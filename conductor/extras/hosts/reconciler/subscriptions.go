package reconciler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Times after which a document is looked at again without an event.
const (
	subscriptionPause = time.Minute // a BMC may answer again
	idleRequeue       = 10 * time.Minute
)

// lookAtSubscription does the next thing for one BMCEventSubscription: the BMC's subscription is made once, and removed
// before the document goes.
func (r *Reconciler) lookAtSubscription(ctx context.Context, k key) (n next, err error) {
	s, err := getIfAny[hostapi.BMCEventSubscription](ctx, r.Documents, k.namespace, k.name)
	if s == nil || err != nil {
		return n, err
	}
	deleted, held := s.DeletionTimestamp != nil, slices.Contains(s.Finalizers, hostapi.SubscriptionFinalizer)
	switch {
	case !held && deleted, s.Status.SubscriptionID != "" && !deleted:
		return n, nil
	case !held:
		s.Finalizers = append(s.Finalizers, hostapi.SubscriptionFinalizer)
		_, err = objects.Save(ctx, r.Documents, *s) // the event causes the next look
		return n, overtaken(err)
	}
	of := key{k.namespace, s.Spec.HostName}
	// One at a time of a BMC: of two that are alike, each must find the other's Id in its document.
	if _, busy := r.subscribing.LoadOrStore(of, true); busy {
		return n, errOvertaken
	}
	defer r.subscribing.Delete(of)
	n.on = []string{changeOf(hostapi.KindHost, of)}
	if ref := s.Spec.HTTPHeadersRef; ref != nil {
		n.on = append(n.on, changeOf(hostapi.KindSecret, key{k.namespace, ref.Name}))
	}
	was := *s
	machine, why, err := r.machineOf(ctx, k.namespace, s.Spec.HostName)
	switch {
	case err != nil:
		return n, err
	case deleted && (machine == nil || s.Status.SubscriptionID == ""): // there is no BMC to ask, or nothing to remove
		why = ""
	case machine == nil:
	case deleted:
		why, n.at, err = r.failureOf(r.unsubscribe(ctx, *machine, s.Status.SubscriptionID))
	default:
		s.Status.SubscriptionID, err = r.subscribe(ctx, *machine, *s)
		why, n.at, err = r.failureOf(err)
	}
	if err != nil {
		return n, err
	}
	if s.Status.Error = why; why == "" && deleted {
		s.Finalizers = hostapi.WithoutFinalizer(s.Finalizers, hostapi.SubscriptionFinalizer)
	} else if s.Status == was.Status {
		return n, nil
	}
	if why != "" {
		r.Log.Warn("subscription to a BMC's events", "document", k, "host", s.Spec.HostName, "err", why)
	}
	_, err = objects.Save(ctx, r.Documents, *s)
	return n, overtaken(err)
}

// machineOf is the node of a host, or why there is none.
func (r *Reconciler) machineOf(ctx context.Context, namespace, name string) (n *node.Node, why string, err error) {
	h, err := getIfAny[hostapi.Host](ctx, r.Documents, namespace, name)
	switch {
	case err != nil:
		return nil, "", err
	case h == nil:
		return nil, fmt.Sprintf("there is no BareMetalHost %s in namespace %s", name, namespace), nil
	case h.Status.Provisioning.ID == "":
		return nil, fmt.Sprintf("the BareMetalHost %s is not registered yet", name), nil
	}
	is, err := r.engine.Node(ctx, h.Status.Provisioning.ID)
	if errors.Is(err, node.ErrNotFound) {
		return nil, fmt.Sprintf("the node of the BareMetalHost %s is gone", name), nil
	}
	return &is, "", err
}

// failureOf is a failure for the document's status, and the time of the next try. Failures that are not of the machine
// are errors.
func (r *Reconciler) failureOf(err error) (why string, again time.Time, _ error) {
	var refusal *node.Refusal
	var away *AwayError
	switch {
	case errors.As(err, &away):
		return away.Error(), r.Now().Add(subscriptionPause), nil
	case !errors.As(err, &refusal):
		return "", time.Time{}, err
	case refusal.Kind == node.Invalid: // its driver has no subscriptions, or a secret is missing
		return refusal.Reason, r.Now().Add(idleRequeue), nil
	}
	return refusal.Reason, r.Now().Add(subscriptionPause), nil
}

// subscribe makes the subscription of a document, and returns its Id.
func (r *Reconciler) subscribe(ctx context.Context, n node.Node,
	s hostapi.BMCEventSubscription) (id string, err error) {
	a := host.Subscribe{Destination: s.Spec.Destination, Context: s.Spec.Context}
	if ref := s.Spec.HTTPHeadersRef; ref != nil {
		secret, err := getIfAny[hostapi.Secret](ctx, r.Documents, s.Namespace, ref.Name)
		if err != nil {
			return "", err
		}
		if secret == nil {
			return "", node.Refuse(node.Invalid, "the secret %s/%s of spec.httpHeadersRef does not exist", s.Namespace, ref.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(secret.Data)) {
			a.Headers = append(a.Headers, map[string]string{name: string(secret.Data[name])})
		}
	}
	all, _, err := objects.List[hostapi.BMCEventSubscription](ctx, r.Documents, s.Namespace)
	if err = r.skipUnreadable(err); err != nil {
		return "", err
	}
	for _, other := range all {
		if other.Spec.HostName == s.Spec.HostName && other.Name != s.Name && other.Status.SubscriptionID != "" {
			a.Others = append(a.Others, other.Status.SubscriptionID)
		}
	}
	return r.actOn(ctx, n, a)
}

// unsubscribe removes a subscription that the BMC may have no longer.
func (r *Reconciler) unsubscribe(ctx context.Context, n node.Node, id string) error {
	_, err := r.actOn(ctx, n, host.Unsubscribe{ID: id})
	var refusal *node.Refusal
	if errors.As(err, &refusal) && refusal.Kind == node.NotFound {
		return nil
	}
	return err
}

// mostSubscriptions bounds the subscriptions of a BMC that are looked at. BMCs have room for some ten.
const mostSubscriptions = 64

// subscribe finds or makes a subscription, and returns its Id.
func subscribe(ctx context.Context, v Verbs, uuid string, a host.Subscribe) (id string, err error) {
	is, _, err := v.CallVendor(ctx, uuid, http.MethodGet, "get_all_subscriptions", nil)
	if err != nil {
		return "", err
	}
	all, _ := is.(map[string]any)
	members, _ := all["Members"].([]any)
	for _, m := range members[:min(len(members), mostSubscriptions)] {
		reference, _ := m.(map[string]any)
		at, _ := reference["@odata.id"].(string)
		if id = path.Base(at); at == "" || slices.Contains(a.Others, id) {
			continue
		}
		is, _, err := v.CallVendor(ctx, uuid, http.MethodGet, "get_subscription", map[string]any{"id": id})
		if err != nil {
			return "", err
		}
		if found, _ := is.(map[string]any); found["Destination"] == a.Destination && found["Context"] == a.Context {
			return id, nil
		}
	}
	args := map[string]any{"Destination": a.Destination, "Context": a.Context}
	if a.Headers != nil {
		headers := make([]any, len(a.Headers))
		for i, h := range a.Headers {
			headers[i] = h
		}
		args["HttpHeaders"] = headers
	}
	is, _, err = v.CallVendor(ctx, uuid, http.MethodPost, "create_subscription", args)
	if err != nil {
		return "", err
	}
	made, _ := is.(map[string]any)
	if id, _ = made["Id"].(string); id == "" {
		return "", node.Refuse(node.BMCFailed, "The BMC took the subscription and does not say its Id")
	}
	return id, nil
}
