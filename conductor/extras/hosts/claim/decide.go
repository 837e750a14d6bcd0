package claim

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Reasons of conditions, in Metal3's words.
const (
	Associated      = "BareMetalHostAssociated"
	MissingHost     = "MissingBareMetalHost"
	NoHost          = "NoBareMetalHost"
	Synced          = "ConfigurationSynced"
	NotSynchronized = "BareMetalHostNotSynchronized"
	Deleting        = "HostClaimDeleting"
)

// Facts are the data that a decision about a claim rests on.
type Facts struct {
	Claim   hostapi.HostClaim
	Host    *hostapi.Host             // with a consumerRef that names the claim; nil for none
	Secrets map[string]hostapi.Secret // by name, of SecretNames those that exist
	Now     time.Time
}

// Decision is the result of Decide. Its documents are written in the order of the fields.
type Decision struct {
	Copies  []hostapi.Secret // of the host's namespace, as they are to be
	Host    *hostapi.Host    // as it becomes; nil for no change
	Discard []string         // names of copies that the host does not name any more
	Claim   hostapi.HostClaim
}

// Decide decides about a claim that has our finalizer.
func Decide(f Facts) Decision {
	d := Decision{Claim: f.Claim}
	d.Claim.Status.Conditions = slices.Clone(f.Claim.Status.Conditions)
	switch {
	case f.Claim.DeletionTimestamp != nil:
		d.release(f)
	case f.Host == nil:
		d.unbound(f)
	default:
		d.synchronize(f)
	}
	if d.Host != nil && reflect.DeepEqual(*d.Host, *f.Host) {
		d.Host = nil
	}
	if d.Host != nil {
		d.Discard = discarded(f, *d.Host)
	}
	d.summarize(f)
	return d
}

// unbound is a claim without a host: it waits for one, or has lost it. A lost host is not replaced by another one: the
// machine may still run the workload.
func (d *Decision) unbound(f Facts) {
	d.Claim.Status.PoweredOn = false
	if b := d.Claim.Status.BareMetalHost; b != nil && Lost(f.Claim) {
		d.set(f, hostapi.ConditionAssociated, false, MissingHost, fmt.Sprintf("the host %s/%s is gone, or has another "+
			"consumer: delete the claim, and create it anew for another host", b.Namespace, b.Name))
		return
	}
	d.Claim.Status.BareMetalHost, d.Claim.Status.HardwareData = nil, nil
	d.set(f, hostapi.ConditionAssociated, false, NoHost, "the claim selects no available host of a namespace with a "+
		"HostDeployPolicy that allows namespace "+f.Claim.Namespace)
}

// Lost reports whether a claim without a host had one before.
func Lost(c hostapi.HostClaim) bool {
	was := condition(c, hostapi.ConditionAssociated)
	return was.Status == hostapi.True || was.Reason == MissingHost
}

// synchronize gives the host the claim's workload, and the claim the host's state.
func (d *Decision) synchronize(f Facts) {
	h, st := *f.Host, &d.Claim.Status
	ref := hostapi.BoundReference{Namespace: h.Namespace, Name: h.Name}
	st.BareMetalHost, st.HardwareData, st.PoweredOn = &ref, &ref, h.Status.PoweredOn
	d.set(f, hostapi.ConditionAssociated, true, Associated, "")
	refs, copies, reason, err := f.secrets()
	switch {
	case h.DeletionTimestamp != nil:
		d.set(f, hostapi.ConditionSynchronized, false, NotSynchronized, "the host is being deleted")
		return
	case err != nil:
		d.set(f, hostapi.ConditionSynchronized, false, reason, err.Error())
		return
	}
	next := d.moveReboots(carry(h, f.Claim, refs))
	d.Copies, d.Host = copies, &next
	d.set(f, hostapi.ConditionSynchronized, true, Synced, "")
}

// release takes the workload off the host of a deleted claim, and the claim off the host once the machine has none.
func (d *Decision) release(f Facts) {
	if f.Host == nil || f.Host.DeletionTimestamp != nil { // a host that is being deleted is cleaned by that
		d.forget()
		return
	}
	h, changed := emptied(*f.Host)
	switch p := f.Host.Status.Provisioning; p.State.Canonical() {
	case hostapi.StateProvisioning, hostapi.StateProvisioned, hostapi.StateDeprovisioning:
		changed = true
	case hostapi.StateExternallyProvisioned:
		changed = f.Host.Status.PoweredOn
	default:
	}
	if changed {
		why := fmt.Sprintf("host %s/%s is %s", h.Namespace, h.Name, f.Host.Status.Provisioning.State)
		if said := f.Host.Status.ErrorMessage; said != "" {
			why += ": " + said
		}
		d.Host = &h
		d.set(f, hostapi.ConditionAssociated, false, Deleting, why)
		return
	}
	h.Spec.ConsumerRef = nil
	d.Host = &h
	d.forget()
}

// forget lets a deleted claim go.
func (d *Decision) forget() {
	d.Claim.Finalizers = hostapi.WithoutFinalizer(d.Claim.Finalizers, hostapi.HostClaimFinalizer)
}

// discarded are the copies of the claim's secrets that the host named, and names no longer.
func discarded(f Facts, next hostapi.Host) (names []string) {
	kept := copiesOf(f.Claim, next)
	for _, name := range copiesOf(f.Claim, *f.Host) {
		if !slices.Contains(kept, name) {
			names = append(names, name)
		}
	}
	return names
}

// copiesOf are the copies of a claim's secrets that a host names.
func copiesOf(c hostapi.HostClaim, h hostapi.Host) (names []string) {
	refs := named(hostapi.HostClaim{Spec: hostapi.HostClaimSpec{Image: h.Spec.Image, UserData: h.Spec.UserData,
		NetworkData: h.Spec.NetworkData, MetaData: h.Spec.MetaData}})
	for _, ref := range refs {
		if ref != nil && strings.HasPrefix(ref.Name, copyPrefix(c)) {
			names = append(names, ref.Name)
		}
	}
	return names
}

// summarize sets the conditions that follow from the host and from the others: Ready is true when all are, and else has
// the first that is not.
func (d *Decision) summarize(f Facts) {
	for _, kind := range []string{hostapi.ConditionProvisioned, hostapi.ConditionAvailable} {
		is := hostapi.Condition{Status: hostapi.False, Reason: NoHost}
		if f.Host != nil {
			is = hostapi.ConditionOf(f.Host.Status.Conditions, kind)
		}
		if is.Status != "" {
			d.set(f, kind, is.Status == hostapi.True, is.Reason, is.Message)
		}
	}
	ready := hostapi.Condition{Status: hostapi.True, Reason: "Ready"}
	for _, kind := range []string{hostapi.ConditionProvisioned, hostapi.ConditionSynchronized,
		hostapi.ConditionAssociated} {
		if c := condition(d.Claim, kind); c.Status != hostapi.True && c.Status != "" {
			ready = c
		}
	}
	d.set(f, hostapi.ConditionReady, ready.Status == hostapi.True, ready.Reason, ready.Message)
	if !reflect.DeepEqual(d.Claim.Status, f.Claim.Status) {
		at := hostapi.At(f.Now)
		d.Claim.Status.LastUpdated = &at
	}
}

func (d *Decision) set(f Facts, kind string, is bool, reason, message string) {
	d.Claim.Status.Conditions = hostapi.WithCondition(d.Claim.Status.Conditions, hostapi.Condition{Type: kind,
		Status: hostapi.ConditionStatus(is), Reason: reason, Message: message, ObservedGeneration: f.Claim.Generation,
		LastTransitionTime: hostapi.At(f.Now)})
}

func condition(c hostapi.HostClaim, kind string) hostapi.Condition {
	return hostapi.ConditionOf(c.Status.Conditions, kind)
}
