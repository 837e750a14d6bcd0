package claim

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Candidate is a free host, as far as claims select it.
type Candidate struct {
	Namespace, Name string
	Labels          map[string]string
}

// Free reports whether a host may be bound: it is available, without a consumer, an error or a pause, and is not being
// deleted.
func Free(h hostapi.Host) bool {
	_, paused := h.Annotations[hostapi.AnnotationPaused]
	_, detached := h.Annotations[hostapi.AnnotationDetached]
	return h.Spec.ConsumerRef == nil && h.DeletionTimestamp == nil && !paused && !detached &&
		h.Status.Provisioning.State.Canonical() == hostapi.StateAvailable && h.Status.ErrorMessage == "" &&
		h.Spec.Image == nil && h.Spec.CustomDeploy == nil // its owner is about to use it
}

// Consumer is the claim that a host's consumerRef names; ok is false for none.
func Consumer(h hostapi.Host) (namespace, name string, ok bool) {
	ref := h.Spec.ConsumerRef
	if ref == nil || ref.Kind != hostapi.KindClaim || !strings.HasPrefix(ref.APIVersion, hostapi.Group+"/") {
		return "", "", false
	}
	return ref.Namespace, ref.Name, true
}

// BoundTo reports whether a host's consumerRef names a claim.
func BoundTo(h hostapi.Host, c hostapi.HostClaim) bool {
	namespace, name, ok := Consumer(h)
	return ok && namespace == c.Namespace && name == c.Name
}

// Bind is a host with a consumerRef that names a claim.
func Bind(h hostapi.Host, c hostapi.HostClaim) hostapi.Host {
	h.Spec.ConsumerRef = &hostapi.ObjectReference{Kind: hostapi.KindClaim, APIVersion: hostapi.APIVersion,
		Namespace: c.Namespace, Name: c.Name}
	return h
}

// Rules are the documents that allow or forbid a claim the hosts of a namespace.
type Rules struct {
	Policies []hostapi.HostDeployPolicy // of all namespaces
	Labels   map[string]string          // of the claim's Namespace
}

// Allow reports whether a claim may have a host. The host's namespace allows it by a policy, and the claim selects it.
func (r Rules) Allow(c hostapi.HostClaim, h Candidate) bool {
	return r.namespaces(c)[h.Namespace] && selects(c, h)
}

// namespaces have hosts that a claim may have. Each policy is asked once and not once a host: its regular expression
// takes time.
func (r Rules) namespaces(c hostapi.HostClaim) map[string]bool {
	all := map[string]bool{}
	for _, p := range r.Policies {
		all[p.Namespace] = all[p.Namespace] || p.Allows(c.Namespace, r.Labels)
	}
	return all
}

func selects(c hostapi.HostClaim, h Candidate) bool {
	within := c.Spec.HostSelector.InNamespace
	return (within == "" || within == h.Namespace) && c.Spec.HostSelector.Matches(h.Labels)
}

// Choose picks a host for a claim among free hosts, of its failure domain if that has any. pick chooses one of n, as in
// Metal3 at random, so that no host is worn out before the others. ok is false when no host is allowed.
func (r Rules) Choose(c hostapi.HostClaim, free []Candidate, pick func(n int) int) (chosen Candidate, ok bool) {
	of := r.namespaces(c)
	allowed := slices.DeleteFunc(slices.Clone(free), func(h Candidate) bool { return !of[h.Namespace] || !selects(c, h) })
	if want := c.Spec.FailureDomain; want != "" {
		near := slices.DeleteFunc(slices.Clone(allowed), func(h Candidate) bool {
			return h.Labels[hostapi.FailureDomainLabel] != want
		})
		if len(near) > 0 {
			allowed = near
		}
	}
	if len(allowed) == 0 {
		return Candidate{}, false
	}
	return allowed[pick(len(allowed))], true
}
