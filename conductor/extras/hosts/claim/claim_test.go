package claim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestChoose: a claim gets a free host of a namespace that allows it, and one of its failure domain if that has any.
func TestChoose(t *testing.T) {
	host := func(namespace, name, labels string) Candidate {
		c := Candidate{Namespace: namespace, Name: name, Labels: map[string]string{}}
		for pair := range strings.FieldsSeq(labels) {
			key, value, _ := strings.Cut(pair, "=")
			c.Labels[key] = value
		}
		return c
	}
	free := []Candidate{
		host("pool", "a", "disk=hdd"), host("pool", "b", "disk=nvme"),
		host("pool", "c", "disk=nvme "+hostapi.FailureDomainLabel+"=east"), host("other", "d", "disk=nvme"),
	}
	policy := func(namespace string, names ...string) hostapi.HostDeployPolicy {
		p := hostapi.HostDeployPolicy{ObjectMeta: hostapi.ObjectMeta{Namespace: namespace}}
		p.Spec.HostClaimNamespaces = &hostapi.HostClaimNamespaces{Names: names}
		return p
	}
	both := []hostapi.HostDeployPolicy{policy("pool", "red"), policy("other", "blue"), policy("other", "red")}
	for name, c := range map[string]struct {
		policies []hostapi.HostDeployPolicy
		change   func(*hostapi.HostClaimSpec)
		want     string // all that may be picked
	}{
		"no policy":      {nil, nil, ""},
		"another's":      {[]hostapi.HostDeployPolicy{policy("pool", "blue")}, nil, ""},
		"one namespace":  {both[:1], nil, "a b c"},
		"two namespaces": {both, nil, "a b c d"},
		"in one of them": {both, func(s *hostapi.HostClaimSpec) { s.HostSelector.InNamespace = "other" }, "d"},
		"in a forbidden": {both[:1], func(s *hostapi.HostClaimSpec) { s.HostSelector.InNamespace = "other" }, ""},
		"by label": {both[:1], func(s *hostapi.HostClaimSpec) {
			s.HostSelector.MatchLabels = map[string]string{"disk": "nvme"}
		}, "b c"},
		"no such label": {both, func(s *hostapi.HostClaimSpec) {
			s.HostSelector.MatchLabels = map[string]string{"disk": "tape"}
		}, ""},
		"failure domain":         {both, func(s *hostapi.HostClaimSpec) { s.FailureDomain = "east" }, "c"},
		"failure domain of none": {both[:1], func(s *hostapi.HostClaimSpec) { s.FailureDomain = "west" }, "a b c"},
	} {
		claim := hostapi.HostClaim{ObjectMeta: hostapi.ObjectMeta{Namespace: "red", Name: "x"}}
		if c.change != nil {
			c.change(&claim.Spec)
		}
		picked := map[string]bool{}
		for i := range len(free) {
			if h, ok := (Rules{Policies: c.policies}).Choose(claim, free, func(n int) int { return i % n }); ok {
				picked[h.Name] = true
			}
		}
		var got []string
		for _, h := range free {
			if picked[h.Name] {
				got = append(got, h.Name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: picks %v, want %q", name, got, c.want)
		}
	}
}

// facts is a claim of namespace red, bound to a host of namespace pool in a state.
func facts(state hostapi.State, edits ...func(*Facts)) Facts {
	f := Facts{Now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Secrets: map[string]hostapi.Secret{}}
	f.Claim.Namespace, f.Claim.Name, f.Claim.UID = "red", "x", "u1"
	f.Claim.Finalizers = []string{hostapi.HostClaimFinalizer}
	f.Claim.Spec.Image = &hostapi.Image{URL: "http://images/a", Checksum: "0"}
	f.Claim.Spec.PoweredOn = true
	h := Bind(hostapi.Host{ObjectMeta: hostapi.ObjectMeta{Namespace: "pool", Name: "h", UID: "u2"}}, f.Claim)
	h.Status.Provisioning.State = state
	f.Host = &h
	for _, e := range edits {
		e(&f)
	}
	return f
}

func secret(name string) func(*Facts) {
	return func(f *Facts) {
		f.Secrets[name] = hostapi.Secret{ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "red"},
			Data: map[string][]byte{"userData": []byte("#cloud-config")}}
	}
}

func userData(namespace, name string) func(*Facts) {
	return func(f *Facts) { f.Claim.Spec.UserData = &hostapi.SecretReference{Namespace: namespace, Name: name} }
}

func pullSecret(f *Facts) {
	name := "pull"
	f.Claim.Spec.Image = &hostapi.Image{URL: "oci://registry/a", OCIAuthSecret: &name}
}

func deleted(f *Facts) {
	at := hostapi.At(f.Now)
	f.Claim.DeletionTimestamp = &at
}

// said is a decision in words.
func said(f Facts) string {
	d := Decide(f)
	out := ""
	if h := d.Host; h != nil {
		out += "host:"
		if h.Spec.Image != nil {
			out += " image " + h.Spec.Image.URL
			if s := h.Spec.Image.OCIAuthSecret; s != nil {
				out += " with " + *s
			}
		}
		if h.Spec.UserData != nil {
			out += " user data " + h.Spec.UserData.Name
		}
		if h.Spec.Online {
			out += " on"
		}
		if h.Spec.ConsumerRef == nil {
			out += " released"
		}
		out += "\n"
	}
	for _, c := range d.Copies {
		out += fmt.Sprintf("copy: %s/%s %s of %s\n", c.Namespace, c.Name, c.Data["userData"], c.OwnerReferences[0].UID)
	}
	if len(d.Discard) > 0 {
		out += fmt.Sprintf("discard: %v\n", d.Discard)
	}
	if len(d.Claim.Finalizers) == 0 {
		out += "gone\n"
	}
	for _, kind := range []string{hostapi.ConditionAssociated, hostapi.ConditionSynchronized, hostapi.ConditionReady} {
		if c := condition(d.Claim, kind); c.Type != "" {
			out += strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Type, c.Status, c.Reason, c.Message)) + "\n"
		}
	}
	return out
}

func TestDecide(t *testing.T) {
	const bound = "Associated True BareMetalHostAssociated\n"
	const synced = bound + "Synchronized True ConfigurationSynced\n"
	deleting := func(is string) string {
		why := " False HostClaimDeleting host pool/h is " + is + "\n"
		return "Associated" + why + "Ready" + why
	}
	carried := func(f *Facts) { // as an earlier decision has left the host
		if d := Decide(*f); d.Host != nil {
			f.Host = d.Host
		}
	}
	for name, c := range map[string]struct {
		facts Facts
		want  string
	}{
		"gets the workload": {facts(hostapi.StateAvailable),
			"host: image http://images/a on\n" + synced + "Ready True Ready\n"},
		"synchronized": {facts(hostapi.StateProvisioning, carried), synced + "Ready True Ready\n"},
		"of a secret": {facts(hostapi.StateAvailable, userData("", "s"), secret("s")),
			"host: image http://images/a user data hostclaim-u1-user-data on\n" +
				"copy: pool/hostclaim-u1-user-data #cloud-config of u2\n" + synced + "Ready True Ready\n"},
		"of the same namespace": {facts(hostapi.StateAvailable, userData("red", "s"), secret("s"),
			func(f *Facts) { f.Host.Namespace = "red" }),
			"host: image http://images/a user data s on\n" + synced + "Ready True Ready\n"},
		"secret is missing": {facts(hostapi.StateAvailable, userData("", "s")), bound +
			"Synchronized False UserDataSecretSyncFailure the secret red/s of spec.userData does not exist\n" +
			"Ready False UserDataSecretSyncFailure the secret red/s of spec.userData does not exist\n"},
		// A claim must not read secrets of other namespaces, by user data or as the login of a registry of its own.
		"secret of the host's namespace": {facts(hostapi.StateAvailable, userData("pool", "h-bmc")), bound +
			"Synchronized False UserDataSecretSyncFailure spec.userData names a secret of namespace pool: only secrets of " +
			"the claim's own, red, may be used\n" +
			"Ready False UserDataSecretSyncFailure spec.userData names a secret of namespace pool: only secrets of the " +
			"claim's own, red, may be used\n"},
		"login of a registry": {facts(hostapi.StateAvailable, pullSecret, secret("pull")),
			"host: image oci://registry/a with hostclaim-u1-oci-auth on\n" +
				"copy: pool/hostclaim-u1-oci-auth #cloud-config of u2\n" +
				synced + "Ready True Ready\n"},
		"login of the host's namespace": {facts(hostapi.StateAvailable, pullSecret), bound +
			"Synchronized False OCIAuthSecretSyncFailure the secret red/pull of spec.image.ociAuthSecretName does not exist\n" +
			"Ready False OCIAuthSecretSyncFailure the secret red/pull of spec.image.ociAuthSecretName does not exist\n"},
		"secret no longer named": {facts(hostapi.StateProvisioned, userData("", "s"), secret("s"), carried,
			func(f *Facts) { f.Claim.Spec.UserData = nil }),
			"host: image http://images/a on\ndiscard: [hostclaim-u1-user-data]\n" + synced + "Ready True Ready\n"},
		"host goes": {facts(hostapi.StateProvisioned, func(f *Facts) {
			at := hostapi.At(f.Now)
			f.Host.DeletionTimestamp = &at
		}), bound + "Synchronized False BareMetalHostNotSynchronized the host is being deleted\n" +
			"Ready False BareMetalHostNotSynchronized the host is being deleted\n"},
		"deleted, at work": {facts(hostapi.StateProvisioned, carried, deleted),
			"host:\n" + deleting("provisioned")},
		"deleted, in the middle": {facts(hostapi.StateProvisioning, carried, deleted),
			"host:\n" + deleting("provisioning")},
		"deleted, cleaning fails": {facts(hostapi.StateDeprovisioning, deleted,
			func(f *Facts) { f.Host.Status.ErrorMessage = "no disk" }),
			deleting("deprovisioning: no disk")},
		"deleted, not begun": {facts(hostapi.StateAvailable, carried, deleted),
			"host:\n" + deleting("available")},
		"deleted, clean": {facts(hostapi.StateAvailable, deleted), "host: released\ngone\nReady True Ready\n"},
		"deleted, without a host": {facts(hostapi.StateAvailable, deleted, func(f *Facts) { f.Host = nil }),
			"gone\nReady False NoBareMetalHost\n"},
	} {
		if diff := cmp.Diff(c.want, said(c.facts)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestReboots: a claim asks for reboots of its host, and for no reboot of others.
func TestReboots(t *testing.T) {
	const one, off, others = hostapi.AnnotationReboot, hostapi.AnnotationReboot + "/repair",
		hostapi.AnnotationReboot + "/site"
	f := facts(hostapi.StateProvisioned, func(f *Facts) {
		f.Claim.Annotations = map[string]string{one: `{"mode":"hard"}`, off: ""}
		f.Host.Annotations = map[string]string{others: ""}
	})
	d := Decide(f)
	want := map[string]string{one: `{"mode":"hard"}`, rebootKey + "repair": "", others: ""}
	if diff := cmp.Diff(want, d.Host.Annotations); diff != "" {
		t.Errorf("the host (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{off: ""}, d.Claim.Annotations); diff != "" {
		t.Errorf("the claim (-want +got):\n%s", diff)
	}
	f.Claim, f.Host = d.Claim, d.Host
	f.Claim.Annotations = nil
	delete(f.Host.Annotations, one)
	if diff := cmp.Diff(map[string]string{others: ""}, Decide(f).Host.Annotations); diff != "" {
		t.Errorf("afterwards (-want +got):\n%s", diff)
	}
}
