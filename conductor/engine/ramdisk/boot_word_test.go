package ramdisk_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// lend gives the machine of a node an address.
func lend(t *testing.T, w *enginetest.World, uuid, ip string) netip.Addr {
	t.Helper()
	if err := w.Store.SaveLease(w.Ctx,
		node.Lease{MAC: enginetest.MACOf(uuid), IP: ip, Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	return netip.MustParseAddr(ip)
}

// TestLookupNeedsTheWordAndTheLease: to know the UUID, to have taken the machine's address, or to have seen another
// word is no proof. Each is refused in the same way, and reported once.
func TestLookupNeedsTheWordAndTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		n := w.Waiting()
		defer w.Close()
		ask := func(c node.Caller) (string, error) {
			_, token, err := w.E.Lookup(w.Ctx, []string{enginetest.MACOf(n.UUID)}, n.UUID, c)
			return token, err
		}
		no := func(what string, c node.Caller, why string) {
			t.Helper()
			for range 3 {
				if token, err := ask(c); token != "" || enginetest.KindOf(t, err) != node.NotFound ||
					err.Error() != "Node could not be found." {
					t.Errorf("%s: %q, %v", what, token, err)
				}
			}
			if times := w.TimesNoted(n.UUID, why); why != "" && times != 1 {
				t.Errorf("%s: told %d times of %q", what, times, why)
			}
		}
		from := netip.MustParseAddr("10.0.0.5")
		no("a stranger, before the machine has asked for an address", node.Caller{From: from}, "")
		lend(t, w, n.UUID, "10.0.0.5")
		no("the right address, before the boot script was asked for", node.Caller{From: from}, "no boot script")
		word := w.Word(n.UUID)
		if again := w.Word(n.UUID); again != word {
			t.Errorf("the word of one boot is %q and %q", word, again)
		}
		other := w.Create("redfish")
		w.Ask(other.UUID, node.Manage, node.Manageable)
		w.Mu.Lock()
		w.Mute[other.UUID] = true
		w.Mu.Unlock()
		if err := w.E.Provision(w.Ctx, other.UUID, plan.Request{Verb: node.Provide}); err != nil {
			t.Fatal(err)
		}
		no("the word, from another address", node.Caller{From: netip.MustParseAddr("10.0.0.6"), Word: word}, "")
		no("another node's word", node.Caller{From: from, Word: w.Word(other.UUID)}, "does not know the one-time token")
		token, err := ask(node.Caller{From: from, Word: word})
		if err != nil || len(token) < 32 || token == word {
			t.Fatalf("the machine is given %q, %v", token, err)
		}
		if again, err := ask(node.Caller{From: from, Word: word}); again != token || err != nil {
			t.Errorf("the machine, which may have lost its answer, is given %q, %v", again, err)
		}
		if again, err := w.E.BootWord(w.Ctx, n.UUID); again != "" || err != nil {
			t.Errorf("a word that was used is told again: %q, %v", again, err)
		}
		if err := w.E.Heartbeat(w.Ctx, n.UUID, agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: word,
			AgentVersion: "1"}); enginetest.KindOf(t, err) != node.Invalid {
			t.Errorf("the word is taken for the token: %v", err)
		}
		if err := w.E.Heartbeat(w.Ctx, n.UUID,
			agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: token, AgentVersion: "1"}); err != nil {
			t.Error(err)
		}
	})
}

// TestWordsOfOneBoot: the word outlives a conductor that died before it answered,
// and ends with its boot.
func TestWordsOfOneBoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		n := w.Waiting()
		defer w.Close()
		word := w.Word(n.UUID)
		kept, err := json.Marshal(func() node.Agent { n, _ := w.Store.Node(w.Ctx, n.UUID); return n.Agent }())
		if err != nil || strings.Contains(string(kept), word) {
			t.Errorf("the word itself is kept: %s, %v", kept, err)
		}
		w.Crash()
		w.Start()
		if again := w.Word(n.UUID); again != word {
			t.Errorf("a retry after a crash is answered %q, not %q", again, word)
		}
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Abort}); err != nil {
			t.Fatal(err)
		}
		w.Settled(n.UUID)
		w.Ask(n.UUID, node.Manage, node.Manageable)
		w.Mu.Lock()
		w.Mute[n.UUID] = true
		w.Mu.Unlock()
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		next := w.Word(n.UUID)
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{Word: word}); next == word || token != "" ||
			enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("the word of the boot before gives %q, %v", token, err)
		}
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{Word: next, BootMode: "bios"}); err != nil ||
			len(token) < 32 {
			t.Errorf("its own gives %q, %v", token, err)
		}
		if n, err = w.Store.Node(w.Ctx, n.UUID); err != nil || n.BootMode != "bios" {
			t.Errorf("the boot mode is %q, not the agent's (%v)", n.BootMode, err)
		}
	})
}

// TestIronicPythonAgent: it does not know words. The word on its kernel line is its token; a lookup gives out no other
// token.
func TestIronicPythonAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		n := w.Waiting()
		defer w.Close()
		at := lend(t, w, n.UUID, "10.0.0.5")
		word := w.Word(n.UUID)
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: "guessed", AgentVersion: "9.4.4"}
		for range 2 {
			if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: at}); err != nil ||
				token != agentapi.MaskedToken {
				t.Fatalf("its lookup gives %q, %v", token, err)
			}
		}
		for _, guess := range []string{"", "guessed", agentapi.MaskedToken, node.WordHash(word)} {
			hb.AgentToken = guess
			if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); enginetest.KindOf(t, err) != node.Invalid {
				t.Errorf("heartbeat with %q: %v", guess, err)
			}
		}
		hb.AgentToken = word
		for range 2 {
			if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := w.E.Node(w.Ctx, n.UUID); err != nil || n.Agent.Token != word || n.Agent.URL != hb.CallbackURL {
			t.Errorf("the agent is %+v, %v", n.Agent, err)
		}
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: at}); err != nil ||
			token != agentapi.MaskedToken {
			t.Errorf("its lookup before it writes an image gives %q, %v", token, err)
		}
	})
}

// TestOnlyOneIsTheAgent: a word is exchanged for a token or becomes one, never both.
func TestOnlyOneIsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		n := w.Waiting()
		defer w.Close()
		word := w.Word(n.UUID)
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: word, AgentVersion: "1"}
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); err != nil {
			t.Fatal(err)
		}
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: netip.MustParseAddr("10.0.0.6")}); token != "" ||
			enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("a second machine is told %q, %v", token, err)
		}
		if times := w.TimesNoted(n.UUID, "lookup from 10.0.0.6 refused: its token was given out before"); times != 1 {
			t.Errorf("the history tells %d times of it", times)
		}
	})
}

// TestBootsNobodyServes: without a boot service the first caller gets the token, as in Ironic; leases of earlier days
// do not count. A second caller is refused and reported.
func TestBootsNobodyServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		w := enginetest.New(t, 1)
		w.Proof, w.Log = core.RamdiskAuth{}, slog.New(slog.NewTextHandler(&logged, nil))
		n := w.Waiting()
		defer w.Close()
		lend(t, w, n.UUID, "10.0.0.5")
		first, second := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		_, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: first})
		if err != nil || len(token) < 32 {
			t.Fatalf("%q, %v", token, err)
		}
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: second}); token != "" ||
			enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("a second lookup from %s gives %q, %v", second, token, err)
		}
		if _, again, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: first}); again != token || err != nil {
			t.Errorf("the first, whose answer may be lost, is given %q, %v", again, err)
		}
		if !strings.Contains(logged.String(), "a token was given again") {
			t.Errorf("nothing warns of a token that was given again without a word: %s", &logged)
		}
		if err := w.E.Heartbeat(w.Ctx, n.UUID,
			agentapi.Heartbeat{CallbackURL: "https://192.0.2.1:9999", AgentToken: token, AgentVersion: "1"}); err != nil {
			t.Fatal(err)
		}
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: first}); token != agentapi.MaskedToken ||
			err != nil {
			t.Errorf("the agent asks again: %q, %v", token, err)
		}
		if times := w.TimesNoted(n.UUID, "given out before"); times == 0 || times > 2 {
			t.Errorf("the history tells %d times of it", times)
		}
		s, err := w.E.Status(w.Ctx, n.UUID)
		if err != nil || len(s.BootStages) < 2 {
			t.Errorf("status %+v, %v", s, err)
		}
	})
}

// TestRestWithoutWords: if boots have no words, no caller gets the token of a machine at rest, with which the next run
// would work. The ramdisk that holds the token gets an answer.
func TestRestWithoutWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof, w.Settings.FastTrack = core.RamdiskAuth{}, true
		w.Start()
		defer w.Close()
		n := node.Node{UUID: "n-rest", Driver: "fake-hardware", ProvisionState: node.Available, PowerState: node.PowerOn}
		if _, err := w.Store.Commit(w.Ctx, node.Change{Insert: &n}); err != nil {
			t.Fatal(err)
		}
		from := netip.MustParseAddr("192.0.2.1")
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: from}); token != "" ||
			enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("a stranger is given %q, %v", token, err)
		}
		n, err := w.Store.Node(w.Ctx, n.UUID)
		if err != nil {
			t.Fatal(err)
		}
		n.Agent = node.Agent{Token: "held", TokenSent: true, URL: "https://192.0.2.1:9999", Caller: from.String()}
		if _, err := w.Store.Commit(w.Ctx, node.Change{Save: &n}); err != nil {
			t.Fatal(err)
		}
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: from, Word: "held"}); err != nil ||
			token != agentapi.MaskedToken {
			t.Errorf("the holder is given %q, %v", token, err)
		}
	})
}

// TestAnyAtRest: where the operator says so, and no boot has a word, the first agent of a machine at rest gets its
// token.
func TestAnyAtRest(t *testing.T) {
	for _, words := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, 1)
			w.Proof, w.Settings.FastTrack = core.RamdiskAuth{AnyAtRest: true, Words: words}, true
			w.Start()
			defer w.Close()
			n := node.Node{UUID: "n-rest", Driver: "fake-hardware", ProvisionState: node.Manageable, PowerState: node.PowerOn}
			if _, err := w.Store.Commit(w.Ctx, node.Change{Insert: &n}); err != nil {
				t.Fatal(err)
			}
			for i, want := range []bool{!words, false} {
				c := node.Caller{From: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}
				if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, c); (err == nil && token != "") != want {
					t.Errorf("words %v: caller %d is given %q, %v", words, i, token, err)
				}
			}
		})
	}
}

// TestBootsOfAnOlderConductor: they were given no word, and finish by the lease. The
// next boot needs one.
func TestBootsOfAnOlderConductor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		n := w.Waiting()
		defer w.Close()
		at := lend(t, w, n.UUID, "10.0.0.5")
		w.Crash()
		n, err := w.Store.Node(w.Ctx, n.UUID)
		if err != nil {
			t.Fatal(err)
		}
		n.Agent.Unproven = true // as the migration has it
		if _, err := w.Store.Commit(w.Ctx, node.Change{Save: &n}); err != nil {
			t.Fatal(err)
		}
		w.Start()
		old := node.Caller{From: at, Old: true}
		if _, token, err := w.E.Lookup(w.Ctx, nil, n.UUID,
			node.Caller{From: netip.MustParseAddr("10.0.0.6"), Old: true}); token != "" ||
			enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("another's address gives %q, %v", token, err)
		}
		_, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, old)
		if err != nil || len(token) < 32 {
			t.Fatalf("a boot under way is given %q, %v", token, err)
		}
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Abort}); err != nil {
			t.Fatal(err)
		}
		if n := w.Settled(n.UUID); n.Agent.Unproven {
			t.Error("the mark outlives the boot")
		}
	})
}

// TestInspectionNeedsTheWord: data of unproven callers are refused, by any reference to the node.
func TestInspectionNeedsTheWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		w.Mu.Lock()
		w.Mute[n.UUID] = true
		w.Mu.Unlock()
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		data := agentapi.Inspection{Inventory: agentapi.Inventory{Interfaces: []agentapi.Interface{
			{Name: "eth0", MACAddress: enginetest.MACOf(n.UUID), HasCarrier: true},
			{Name: "eth1", MACAddress: "52:54:00:ee:00:01", HasCarrier: true},
		}}}
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		send := func(c node.Caller) error {
			got, err := w.E.ContinueInspection(w.Ctx, n.UUID, data, raw, c)
			if err != nil && got.UUID != "" {
				t.Errorf("who is refused is told of node %s", got.UUID)
			}
			return err
		}
		if err := send(node.Caller{}); enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("before the boot script was asked for: %v", err)
		}
		word := w.Word(n.UUID)
		for _, c := range []node.Caller{{}, {Word: "guessed"}, {Word: word, Old: true}} {
			if err := send(c); enginetest.KindOf(t, err) != node.NotFound {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if _, _, err := w.E.Discover(w.Ctx, data, raw, netip.Addr{}); enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("as of an unknown machine: %v", err)
		}
		if err := send(node.Caller{Word: word}); err != nil {
			t.Error(err)
		}
		if err := send(node.Caller{Word: word}); enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("the same data once more: %v", err)
		}
	})
}
