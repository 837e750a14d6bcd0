package ramdisk_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// ends expects that the run of a node has ended for a reason.
func ends(t *testing.T, w *enginetest.World, uuid string, want ...string) {
	t.Helper()
	n, err := w.E.Node(w.Ctx, uuid)
	if err != nil || n.ProvisionState != node.CleanFailed {
		t.Fatalf("node is %q (%s), %v", n.ProvisionState, n.LastError, err)
	}
	for _, text := range want {
		if !strings.Contains(n.LastError, text) || w.TimesNoted(uuid, text) != 1 {
			t.Errorf("last_error %q, told %d times; expected %q, once", n.LastError, w.TimesNoted(uuid, text), text)
		}
	}
}

// TestRestartedByItself: a machine that asks for its boot script after the word of its
// boot was used gets no other, since it may be another machine; the run ends and says so.
// The agent of before is not believed any longer.
func TestRestartedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		n := w.Waiting()
		defer w.Close()
		at := lend(t, w, n.UUID, "10.0.0.5")
		asks := func() (word string) {
			t.Helper()
			n, err := w.E.Node(w.Ctx, n.UUID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = w.E.ScriptAsked(w.Ctx, n, at, time.Now()); err != nil {
				t.Fatal(err)
			}
			if word, err = w.E.BootWord(w.Ctx, n.UUID); err != nil {
				t.Fatal(err)
			}
			return word
		}
		word := asks()
		if again := asks(); again != word || word == "" {
			t.Fatalf("the word of one boot is %q and %q", word, again)
		}
		_, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: at, Word: word})
		if err != nil {
			t.Fatal(err)
		}
		if word := asks(); word != "" {
			t.Errorf("the machine is given the word %q", word)
		}
		ends(t, w, n.UUID, "the machine has restarted by itself", "was used at 10.0.0.5")
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: token, AgentVersion: "1"}
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); enginetest.KindOf(t, err) != node.Invalid {
			t.Errorf("the agent of before calls: %v", err)
		}
	})
}

// TestStrangersEndNoRuns: only with addresses that this conductor alone gives is it the
// machine that asks.
func TestStrangersEndNoRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		n := w.Waiting()
		defer w.Close()
		from := netip.MustParseAddr("10.0.0.5")
		refused := func() {
			_, _, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: from, Old: true})
			if enginetest.KindOf(t, err) != node.NotFound {
				t.Errorf("an old ramdisk: %v", err)
			}
		}
		refused()
		word := w.Word(n.UUID)
		for range 3 {
			refused()
		}
		if _, _, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: from, Word: word}); err != nil {
			t.Fatal(err)
		}
		n, err := w.E.Node(w.Ctx, n.UUID)
		if err != nil {
			t.Fatal(err)
		}
		if n, err = w.E.ScriptAsked(w.Ctx, n, from, time.Now()); err != nil || n.ProvisionState != node.CleanWait {
			t.Errorf("node is %q (%s), %v", n.ProvisionState, n.LastError, err)
		}
	})
}

// TestOldRamdiskEndsTheRun: that boot cannot succeed. A caller that is not at the address lent to the machine ends
// nothing.
func TestOldRamdiskEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		n := w.Waiting()
		defer w.Close()
		at := lend(t, w, n.UUID, "10.0.0.5")
		ask := func(from netip.Addr) {
			t.Helper()
			if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: from, Old: true}); token != "" ||
				enginetest.KindOf(t, err) != node.NotFound {
				t.Errorf("an old ramdisk at %s: %q, %v", from, token, err)
			}
		}
		ask(at) // before the boot script was asked for: it is not of this boot
		w.Word(n.UUID)
		ask(netip.MustParseAddr("10.0.0.6"))
		if n, err := w.E.Node(w.Ctx, n.UUID); err != nil || n.ProvisionState != node.CleanWait {
			t.Fatalf("a stranger: node is %q (%s), %v", n.ProvisionState, n.LastError, err)
		}
		ask(at)
		n, err := w.E.Node(w.Ctx, n.UUID)
		if err != nil || n.ProvisionState != node.CleanFailed ||
			!strings.Contains(n.LastError, "rebuild the ramdisk with ferrite ramdisk build") {
			t.Fatalf("node is %q (%s), %v", n.ProvisionState, n.LastError, err)
		}
		ask(at)
	})
}

// TestAddressOfAnEarlierBoot: any machine can take the address of a machine that is off while the lease runs on. A word
// is given only to an address lent in this boot.
func TestAddressOfAnEarlierBoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		before := time.Now()
		n := w.Waiting()
		defer w.Close()
		at := lend(t, w, n.UUID, "10.0.0.5")
		for range 2 {
			if _, err := w.E.ScriptAsked(w.Ctx, n, at, before); enginetest.KindOf(t, err) != node.NotFound {
				t.Errorf("a lease of before: %v", err)
			}
		}
		if times := w.TimesNoted(n.UUID,
			"boot script from 10.0.0.5 refused: the machine has no lease of this boot"); times != 1 {
			t.Errorf("told %d times", times)
		}
		if _, err := w.E.ScriptAsked(w.Ctx, n, at, time.Now()); err != nil {
			t.Error(err)
		}
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Abort}); err != nil {
			t.Fatal(err)
		}
		lent := time.Now()
		time.Sleep(time.Second)
		if err := w.E.SetPower(w.Ctx, n.UUID, node.Rebooting, 0); err != nil {
			t.Fatal(err)
		}
		w.Settled(n.UUID)
		n, err := w.E.Node(w.Ctx, n.UUID)
		if err != nil || !lent.Before(n.Agent.Since) {
			t.Errorf("after an operator's reboot the boot is of %s, %v; the lease of %s", n.Agent.Since, err, lent)
		}
	})
}
