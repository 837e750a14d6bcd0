package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// A host holds the secrets that its deletion needs, for as long as it has our finalizer.
func TestHeldSecrets(t *testing.T) {
	h := newFacts(hostapi.StateProvisioned, "").Host
	h.Spec.UserData, h.Spec.PreprovisioningNetworkDataName = &hostapi.SecretReference{Name: "user"}, "net"
	if diff := cmp.Diff([]string{"bmc", "net"}, HeldSecrets(h)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.Spec.PreprovisioningNetworkDataName = "bmc"
	if diff := cmp.Diff([]string{"bmc"}, HeldSecrets(h)); diff != "" {
		t.Errorf("one secret for both (-want +got):\n%s", diff)
	}
	h.Finalizers = []string{"example.org/mine"}
	if held := HeldSecrets(h); held != nil {
		t.Errorf("a host that may vanish holds %v", held)
	}
}

// The marks of secrets are set once, keep changes by others, and are removed.
func TestClaim(t *testing.T) {
	const mine, theirs = hostapi.SecretFinalizer, "example.org/mine"
	label := map[string]string{hostapi.LabelEnvironment: hostapi.EnvironmentBaremetal}
	at := hostapi.At(testNow)
	named := func(name string, m hostapi.ObjectMeta) hostapi.ObjectMeta { m.Name = name; return m }
	h := newFacts(hostapi.StateProvisioned, "").Host
	vanishing := h
	vanishing.Finalizers = nil
	for name, c := range map[string]struct {
		by      hostapi.Host
		secret  hostapi.ObjectMeta
		want    hostapi.ObjectMeta
		changed bool
	}{
		"plain": {
			h, named("bmc", hostapi.ObjectMeta{}), hostapi.ObjectMeta{Labels: label, Finalizers: []string{mine}}, true,
		},
		"read only": {h, named("user", hostapi.ObjectMeta{}), hostapi.ObjectMeta{Labels: label}, true},
		"marked": {h, named("bmc", hostapi.ObjectMeta{Labels: label, Finalizers: []string{mine}}),
			hostapi.ObjectMeta{Labels: label, Finalizers: []string{mine}}, false},
		"of others": {h,
			named("bmc",
				hostapi.ObjectMeta{Labels: map[string]string{hostapi.LabelEnvironment: "lab"}, Finalizers: []string{theirs}}),
			hostapi.ObjectMeta{Labels: map[string]string{hostapi.LabelEnvironment: "lab"}, Finalizers: []string{theirs, mine}},
			true},
		"deleted": {h, named("bmc", hostapi.ObjectMeta{DeletionTimestamp: &at, Finalizers: []string{theirs}}),
			hostapi.ObjectMeta{DeletionTimestamp: &at, Finalizers: []string{theirs}}, false},
		"by one who may vanish": {vanishing, named("bmc", hostapi.ObjectMeta{}), hostapi.ObjectMeta{}, false},
	} {
		got, changed := Claim(c.by, hostapi.Secret{ObjectMeta: c.secret})
		c.want.Name = c.secret.Name
		if diff := cmp.Diff(c.want, got.ObjectMeta); diff != "" || changed != c.changed {
			t.Errorf("%s: changed %v (-want +got):\n%s", name, changed, diff)
		}
	}
	s := hostapi.Secret{ObjectMeta: hostapi.ObjectMeta{Labels: label, Finalizers: []string{mine, theirs}}}
	got, changed := Unclaim(s)
	if diff := cmp.Diff(hostapi.ObjectMeta{Labels: label, Finalizers: []string{theirs}}, got.ObjectMeta); diff != "" ||
		!changed || len(s.Finalizers) != 2 || s.Finalizers[0] != mine {
		t.Errorf("unclaimed %v, of %v (-want +got):\n%s", changed, s.Finalizers, diff)
	}
	if _, changed := Unclaim(got); changed {
		t.Error("unclaimed twice")
	}
}
