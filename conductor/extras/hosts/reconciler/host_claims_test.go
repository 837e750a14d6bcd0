package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/claim"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// claims makes a HostClaim of namespace red.
func (w *world) claims(name string, change func(*hostapi.HostClaim)) {
	w.tb.Helper()
	c := hostapi.HostClaim{ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "red"}}
	if change != nil {
		change(&c)
	}
	_, err := objects.Create(context.Background(), w.docs, c)
	w.check(err)
}

// allows lets claims of some namespaces bind the hosts of namespace default.
func (w *world) allows(namespaces ...string) {
	w.tb.Helper()
	_, err := objects.Create(context.Background(), w.docs, hostapi.HostDeployPolicy{
		ObjectMeta: hostapi.ObjectMeta{Name: "p", Namespace: "default"},
		Spec:       hostapi.HostDeployPolicySpec{HostClaimNamespaces: &hostapi.HostClaimNamespaces{Names: namespaces}}})
	w.check(err)
}

func (w *world) claim(name string) hostapi.HostClaim {
	w.tb.Helper()
	c, err := objects.Get[hostapi.HostClaim](context.Background(), w.docs, "red", name)
	w.check(err)
	return c
}

// disclaim deletes a claim.
func (w *world) disclaim(name string) {
	w.tb.Helper()
	_, _, err := objects.Delete[hostapi.HostClaim](context.Background(), w.docs, "red", name, objects.DeleteOptions{})
	w.check(err)
}

// waits lets time go by in which a condition of the world comes to hold.
func (w *world) waits(event string, so func() bool) {
	w.tb.Helper()
	for range 10_000 {
		if so() {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	w.tb.Fatalf("it never comes to be that %s", event)
}

// reasons is a claim's condition in a line.
func (w *world) reason(name, kind string) string {
	w.tb.Helper()
	for _, c := range w.claim(name).Status.Conditions {
		if c.Type == kind {
			return c.Reason
		}
	}
	return ""
}

// holders is the claim of each host that has one, by the host's name.
func (w *world) holders() map[string]string {
	w.tb.Helper()
	hosts, _, err := objects.List[hostapi.Host](context.Background(), w.docs, "default")
	w.check(err)
	all := map[string]string{}
	for _, h := range hosts {
		if _, name, ok := claim.Consumer(h); ok {
			all[h.Name] = name
		}
	}
	return all
}

// TestManyClaims: of 100 claims for ten hosts, ten get one each. Another gets the host of a claim that goes.
func TestManyClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.New())
		w.start()
		defer func() { w.stop() }()
		w.secret("bmc", "right")
		w.allows("red")
		for i := range 100 {
			w.claims(fmt.Sprintf("c%d", i), nil)
		}
		for i := range 10 {
			w.apply(fmt.Sprintf("h%d", i), func(h *hostapi.Host) { h.Spec.Online = false })
		}
		w.waits("all hosts have claims", func() bool { return len(w.holders()) == 10 })
		time.Sleep(time.Hour)
		named := map[string]string{}
		for i := range 100 {
			name := fmt.Sprintf("c%d", i)
			switch b := w.claim(name).Status.BareMetalHost; {
			case b == nil && w.reason(name, hostapi.ConditionAssociated) != claim.NoHost:
				t.Errorf("claim %s without a host: %s", name, w.reason(name, hostapi.ConditionAssociated))
			case b != nil && (named[b.Name] != "" || w.holders()[b.Name] != name):
				t.Errorf("host %s is named by claims %s and %s, and has the consumer %s", b.Name, named[b.Name], name,
					w.holders()[b.Name])
			case b != nil:
				named[b.Name] = name
			}
		}
		if len(named) != 10 {
			t.Errorf("%d claims have a host, want 10", len(named))
		}
		before := w.holders()["h3"]
		w.disclaim(before)
		w.waits("another claim has the host", func() bool { c := w.holders()["h3"]; return c != "" && c != before })
	})
}

// TestClaimLife: a claim's workload comes to its host with copies of its secrets, and is taken away before another
// claim gets the host, even if the claim is deleted while the image is written.
func TestClaimLife(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		w.allows("red")
		_, err := objects.Create(ctx, w.docs, hostapi.Secret{ObjectMeta: hostapi.ObjectMeta{Name: "user", Namespace: "red"},
			Data: map[string][]byte{"userData": []byte("#cloud-config of red")}})
		w.check(err)
		w.apply("h", nil)
		w.becomes("h", hostapi.StateAvailable)
		w.machines.hold(true)
		workload := func(c *hostapi.HostClaim) {
			c.Spec.PoweredOn = true
			c.Spec.Image = &hostapi.Image{URL: "http://images/a", Checksum: strings.Repeat("0", 64),
				ChecksumType: hostapi.SHA256}
			c.Spec.UserData = &hostapi.SecretReference{Name: "user"}
		}
		w.claims("a", workload)
		w.becomes("h", hostapi.StateProvisioning)
		w.claims("b", workload)
		time.Sleep(time.Minute)
		if got := fmt.Sprint(w.node("h").InstanceInfo["configdrive"]); !strings.Contains(got, "#cloud-config of red") {
			t.Errorf("the config drive is %s", got)
		}
		w.disclaim("a")
		time.Sleep(time.Second)
		if got := w.holders()["h"]; got != "a" {
			t.Errorf("while the image is written the consumer is %q", got)
		}
		w.machines.hold(false)
		w.waits("the second claim has the host", func() bool { return w.holders()["h"] == "b" })
		if _, err := objects.Get[hostapi.HostClaim](ctx, w.docs, "red", "a"); !errors.Is(err, objects.ErrNotFound) {
			t.Errorf("the deleted claim: %v", err)
		}
		w.waits("it runs there", func() bool { return w.reason("b", hostapi.ConditionReady) == "Ready" })
		secrets, _, err := objects.List[hostapi.Secret](ctx, w.docs, "default")
		w.check(err)
		if len(secrets) != 2 { // the BMC's, and the copy for b
			t.Errorf("%d secrets beside the host, want 2", len(secrets))
		}
		// A host that goes is not replaced: its machine may still run the workload.
		w.apply("other", nil)
		w.becomes("other", hostapi.StateAvailable)
		w.remove("h")
		w.waits("the loss is reported", func() bool { return w.reason("b", hostapi.ConditionReady) == claim.MissingHost })
		time.Sleep(time.Hour)
		if got := w.holders(); len(got) > 0 {
			t.Errorf("the claim has got another host: %v", got)
		}
		w.disclaim("b")
		w.waits("the claim goes", func() bool {
			_, err := objects.Get[hostapi.HostClaim](ctx, w.docs, "red", "b")
			return errors.Is(err, objects.ErrNotFound)
		})
	})
}

// TestClaimsWithoutAllowance: neither a status that is written by hand nor a policy of another namespace gives a claim
// a host, and a host that another consumer has is left alone.
func TestClaimsWithoutAllowance(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("h", nil)
		w.becomes("h", hostapi.StateAvailable)
		w.apply("used", func(h *hostapi.Host) { h.Spec.ConsumerRef = &hostapi.ObjectReference{Kind: "Machine", Name: "m"} })
		w.becomes("used", hostapi.StateAvailable)
		w.allows("blue")
		for _, name := range []string{"h", "used"} {
			w.claims(name, nil)
			w.waits("the claim has been looked at", func() bool { return w.reason(name, hostapi.ConditionAssociated) != "" })
			for _, associated := range []string{hostapi.True, hostapi.False} {
				c := w.claim(name)
				c.ResourceVersion = ""
				c.Status.BareMetalHost = &hostapi.BoundReference{Namespace: "default", Name: name}
				c.Status.Conditions = []hostapi.Condition{{Type: hostapi.ConditionAssociated, Status: associated, Reason: "Forged"}}
				_, err := objects.UpdateStatus(context.Background(), w.docs, c)
				w.check(err)
				time.Sleep(time.Minute)
			}
			w.disclaim(name)
			time.Sleep(time.Minute)
		}
		if got := w.holders(); len(got) > 0 {
			t.Errorf("claims have got hosts: %v", got)
		}
		if h := w.host("used"); h.Spec.ConsumerRef == nil || !h.Spec.Online {
			t.Errorf("the host of another consumer was changed: %+v", h.Spec)
		}
		w.claims("c", nil)
		time.Sleep(time.Minute)
		p, err := objects.Get[hostapi.HostDeployPolicy](context.Background(), w.docs, "default", "p")
		w.check(err)
		p.Spec.HostClaimNamespaces.Names = []string{"red"}
		_, err = objects.Update(context.Background(), w.docs, p)
		w.check(err)
		w.waits("the allowed claim has the free host", func() bool { return w.holders()["h"] == "c" })
	})
}
