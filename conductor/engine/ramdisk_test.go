package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestAddressOfNobody: a port may have an address that no interface has, as Ironic takes it. No machine is known by it.
func TestAddressOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		n := waiting(t, w)
		defer w.close()
		for _, mac := range []string{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"} {
			_, err := w.e.CreatePort(w.ctx, node.Port{NodeUUID: n.UUID, Address: mac})
			w.must(err)
			if _, token, err := w.e.Lookup(w.ctx, []string{mac}, "", node.Caller{}); token != "" ||
				refused(t, err) != node.NotFound {
				t.Errorf("a machine of %s: %q, %v", mac, token, err)
			}
			if _, _, err := w.e.NodeByMAC(w.ctx, mac); !errors.Is(err, node.ErrNotFound) {
				t.Errorf("the node of %s: %v", mac, err)
			}
		}
	})
}

func TestLookupGivesTheTokenToOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.proof.Leases = true
		n := waiting(t, w)
		defer w.close()
		mac, word := []string{macOf(n.UUID)}, w.word(n.UUID)
		leased := netip.MustParseAddr("10.0.0.5")
		if err := w.store.SaveLease(w.ctx,
			node.Lease{MAC: mac[0], IP: leased.String(), Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.e.Lookup(w.ctx, mac, "", node.Caller{From: netip.MustParseAddr("10.0.0.6"), Word: word}); refused(t,
			err) != node.NotFound {
			t.Errorf("lookup from another's address: %v", err)
		}
		if _, _, err := w.e.Lookup(w.ctx, []string{"52:54:00:ff:ff:ff"}, "",
			node.Caller{From: leased, Word: word}); refused(t, err) != node.NotFound {
			t.Errorf("lookup of a stranger: %v", err)
		}
		_, first, err := w.e.Lookup(w.ctx, mac, "", node.Caller{From: leased, Word: word})
		if err != nil || len(first) < 32 {
			t.Fatalf("token %q, %v", first, err)
		}
		// The answer may have been lost on its way, with a member that forwarded the request.
		if _, again, err := w.e.Lookup(w.ctx, mac, "", node.Caller{From: leased, Word: word}); again != first || err != nil {
			t.Errorf("a caller that has its answer not is told %q, %v", again, err)
		}
		if _, again, err := w.e.Lookup(w.ctx, mac, "", node.Caller{From: leased, Word: "guessed"}); again != "" ||
			refused(t, err) != node.NotFound {
			t.Errorf("the token is given to a caller from there without the word: %q, %v", again, err)
		}
		if _, again, err := w.e.Lookup(w.ctx, mac, "",
			node.Caller{From: leased, Word: first}); again != agentapi.MaskedToken {
			t.Errorf("an agent that holds the token is told %q, %v", again, err)
		}
		// The conductor may have died before it answered. The same token it is, since an answer may still be on its way.
		w.crash()
		w.start()
		if _, again, err := w.e.Lookup(w.ctx, mac, "", node.Caller{From: leased, Word: word}); again != first || err != nil {
			t.Fatalf("token after a crash %q, %v", again, err)
		}
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: first, AgentVersion: "1"}
		if err := w.e.Heartbeat(w.ctx, n.UUID, hb); err != nil {
			t.Error(err)
		}
		hb.CallbackURL = "https://10.6.6.6:9999"
		if err := w.e.Heartbeat(w.ctx, n.UUID, hb); refused(t, err) != node.Invalid {
			t.Errorf("heartbeat from elsewhere: %v", err)
		}
		// Once an agent has used it, it is not given out again, not even after a crash.
		if _, again, err := w.e.Lookup(w.ctx, mac, "",
			node.Caller{From: leased, Word: word}); again != agentapi.MaskedToken || err != nil {
			t.Errorf("the token in use is given out: %q, %v", again, err)
		}
		w.crash()
		w.start()
		if _, again, err := w.e.Lookup(w.ctx, mac, "",
			node.Caller{From: leased, Word: word}); again != agentapi.MaskedToken || err != nil {
			t.Errorf("the token in use is given out: %q, %v", again, err)
		}
	})
}

// TestHeartbeatsDoNotWrite counts revisions.
func TestHeartbeatsDoNotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.settings.FastTrack, w.settings.FastTrackAny = true, true
		w.start()
		defer w.close()
		n := w.create("redfish")
		w.ask(n.UUID, node.Manage, node.Manageable)
		n = w.ask(n.UUID, node.Provide, node.Available)
		hb := agentapi.Heartbeat{CallbackURL: n.Agent.URL, AgentToken: n.Agent.Token, AgentVersion: n.Agent.Version}
		for range 100 {
			if err := w.e.Heartbeat(w.ctx, n.UUID, hb); err != nil {
				t.Fatal(err)
			}
		}
		after, err := w.e.Node(w.ctx, n.UUID)
		if err != nil || after.Revision != n.Revision {
			t.Errorf("revision %d became %d, %v", n.Revision, after.Revision, err)
		}
	})
}

func TestStatusAndProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		n := waiting(t, w)
		defer w.close()
		for _, s := range []string{"dhcp offer", "dhcp offer", "kernel"} {
			w.e.BootStage(n.UUID, s, "")
		}
		_, token, err := w.e.Lookup(w.ctx, []string{macOf(n.UUID)}, "", node.Caller{Word: w.word(n.UUID)})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.e.Progress(w.ctx, n.UUID, agentapi.Progress{AgentToken: "guess", Step: "x"}); refused(t,
			err) != node.Invalid {
			t.Errorf("progress with a guessed token: %v", err)
		}
		for _, done := range []int64{0, 50 << 20} {
			if err := w.e.Progress(w.ctx, n.UUID, agentapi.Progress{AgentToken: token, Step: "write_image", Stage: "write",
				Done: done, Total: 100 << 20}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: "guess", AgentVersion: "1"}
		if err := w.e.Heartbeat(w.ctx, n.UUID, hb); refused(t, err) != node.Invalid {
			t.Errorf("heartbeat with a guessed token: %v", err)
		}
		s, err := w.e.Status(w.ctx, n.UUID)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "a heartbeat was refused at ") {
			t.Errorf("the status warns of %q", s.Warnings)
		}
		var names []string
		for _, b := range s.BootStages {
			names = append(names, b.Name)
		}
		if diff := cmp.Diff([]string{"power on", "dhcp offer", "kernel", "lookup"}, names); diff != "" {
			t.Errorf("boot stages (-want +got):\n%s", diff)
		}
		if s.Activity != "clean" || s.Step != "agent.wait_for_heartbeat" || s.WaitingFor == "" || s.Until.IsZero() ||
			s.Try == "" {
			t.Errorf("status %+v", s)
		}
		if !s.WaitingSince.Equal(*n.ProvisionUpdatedAt) || !s.WaitingSince.After(s.Since) {
			t.Errorf("it waits since %s, which came into its state at %s, in an activity since %s", s.WaitingSince,
				n.ProvisionUpdatedAt, s.Since)
		}
		want := &core.Progress{Step: "write_image", Stage: "write", Done: 50 << 20, Total: 100 << 20, Rate: 10 << 20,
			ETA: 5 * time.Second, At: s.Progress.At}
		if diff := cmp.Diff(want, s.Progress); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		hb.AgentToken = token
		if err := w.e.Heartbeat(w.ctx, n.UUID, hb); err != nil {
			t.Fatal(err)
		}
		if s, err = w.e.Status(w.ctx, n.UUID); err != nil || len(s.Warnings) > 0 {
			t.Errorf("after a heartbeat that was taken the status warns of %q, %v", s.Warnings, err)
		}
	})
}

// TestInspectionFindsItsNode: by MAC, else by BMC address, and only a node
// that waits for it.
func TestInspectionFindsItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := w.create("redfish")
		if _, err := w.e.UpdateNode(w.ctx, n.UUID, func(n *node.Node) error {
			n.DriverInfo = map[string]any{"redfish_address": "https://192.0.2.7:443/redfish"}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		data := agentapi.Inspection{Inventory: agentapi.Inventory{
			Interfaces: []agentapi.Interface{{Name: "eth0", MACAddress: "52:54:00:aa:bb:cc", HasCarrier: true}},
			BMCAddress: "192.0.2.7",
		}}
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.e.ContinueInspection(w.ctx, "", data, raw, node.Caller{}); refused(t, err) != node.NotFound {
			t.Errorf("data for a node at rest: %v", err)
		}
		w.ask(n.UUID, node.Manage, node.Manageable)
		if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if _, err := w.e.ContinueInspection(w.ctx, "", data, raw, node.Caller{Word: w.word(n.UUID)}); err != nil {
			t.Error(err)
		}
		if n := w.settled(n.UUID); n.ProvisionState != node.Manageable {
			t.Errorf("node is %q: %s", n.ProvisionState, n.LastError)
		}
		ports, err := w.e.Ports(w.ctx, node.PortQuery{NodeUUID: n.UUID})
		if err != nil || len(ports) != 1 || told(t, w, n.UUID, "not made ports") != 1 { // the node had one
			t.Errorf("ports %v, %v", ports, err)
		}
	})
}

// TestSharedAddress: a network card that the BMCs of two machines show, with the same address in both, is a port of the
// first. The second is found all the same, whichever of its addresses comes first.
func TestSharedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		const shared = "52:54:00:5a:5a:5a"
		first, second := w.create("redfish"), w.create("redfish")
		if _, err := w.e.CreatePort(w.ctx, node.Port{NodeUUID: first.UUID, Address: shared, PXEEnabled: true}); err != nil {
			t.Fatal(err)
		}
		data := agentapi.Inspection{Inventory: agentapi.Inventory{Interfaces: []agentapi.Interface{
			{Name: "usb0", MACAddress: shared}, {Name: "eth0", MACAddress: macOf(second.UUID), HasCarrier: true}}}}
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		w.ask(first.UUID, node.Manage, node.Manageable)
		w.ask(second.UUID, node.Manage, node.Manageable)
		for _, both := range []bool{false, true} { // the first waits too: the word distinguishes them
			for _, n := range []node.Node{first, second} {
				if n.UUID == second.UUID || both {
					if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(3 * time.Second)
			got, err := w.e.ContinueInspection(w.ctx, "", data, raw, node.Caller{Word: w.word(second.UUID)})
			if err != nil || got.UUID != second.UUID {
				t.Errorf("first waits %v: node %q, %v; want %s", both, got.UUID, err, second.UUID)
			}
			w.settled(second.UUID)
		}
	})
}

// TestStrangersAreNotTheMachine: a caller that knows a node's UUID, and has a machine with a lease of its own, gets no
// token, and its data are refused. With the token alone it cannot send this conductor to another address than the
// machine's.
func TestStrangersAreNotTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.proof.Leases = true
		n := waiting(t, w)
		defer w.close()
		const stranger = "52:54:00:ee:ee:ee"
		machine, elsewhere := netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("10.0.0.66")
		for mac, ip := range map[string]netip.Addr{macOf(n.UUID): machine, stranger: elsewhere} {
			if err := w.store.SaveLease(w.ctx,
				node.Lease{MAC: mac, IP: ip.String(), Expires: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, macs := range [][]string{nil, {stranger}, {"52:54:00:ff:ff:ff"}, {macOf(n.UUID), stranger}} {
			if _, token, err := w.e.Lookup(w.ctx, macs, n.UUID,
				node.Caller{From: elsewhere, Word: w.word(n.UUID)}); token != "" || refused(t, err) != node.NotFound {
				t.Errorf("lookup of %v gives %q, %v", macs, token, err)
			}
		}
		if found, err := w.e.Find(w.ctx, []string{macOf(n.UUID)}, "", elsewhere); found.UUID != "" ||
			refused(t, err) != node.NotFound {
			t.Errorf("a lookup from before tokens tells of %q, %v", found.UUID, err)
		}
		if found, err := w.e.Find(w.ctx, []string{macOf(n.UUID)}, "", machine); found.UUID != n.UUID || err != nil {
			t.Errorf("the machine's tells of %q, %v", found.UUID, err)
		}
		_, token, err := w.e.Lookup(w.ctx, nil, n.UUID, node.Caller{From: machine, Word: w.word(n.UUID)})
		if err != nil || len(token) < 32 {
			t.Fatalf("the machine's own lookup: %q, %v", token, err)
		}
		hb := agentapi.Heartbeat{AgentToken: token, AgentVersion: "1"}
		for _, callback := range []string{"https://10.0.0.66:9999", "https://127.0.0.1:22", "https://internal:443"} {
			hb.CallbackURL = callback
			if err := w.e.Heartbeat(w.ctx, n.UUID, hb); refused(t, err) != node.Invalid {
				t.Errorf("heartbeat that wants to be called at %s: %v", callback, err)
			}
		}
		hb.CallbackURL = "https://10.0.0.5:9999"
		if err := w.e.Heartbeat(w.ctx, n.UUID, hb); err != nil {
			t.Error(err)
		}
	})
}

func TestStrangersSendNoInspectionData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.proof.Leases = true
		w.start()
		defer w.close()
		n := w.create("redfish")
		w.ask(n.UUID, node.Manage, node.Manageable)
		if err := w.store.SaveLease(w.ctx,
			node.Lease{MAC: macOf(n.UUID), IP: "10.0.0.5", Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		w.of(n.UUID).boot++ // the test takes the place of w.run
		w.mu.Unlock()
		if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if n, err := w.e.Node(w.ctx, n.UUID); err != nil || n.ProvisionState != node.InspectWait {
			t.Fatalf("node is %q, %v", n.ProvisionState, err)
		}
		data := agentapi.Inspection{
			Inventory: agentapi.Inventory{Interfaces: []agentapi.Interface{{Name: "eth0", MACAddress: macOf(n.UUID)}}},
		}
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.e.ContinueInspection(w.ctx, n.UUID, data, raw,
			node.Caller{From: netip.MustParseAddr("10.0.0.66"), Word: w.word(n.UUID)}); refused(t, err) != node.NotFound {
			t.Errorf("data from elsewhere: %v", err)
		}
		if _, err := w.e.Inspected(w.ctx, n.UUID); refused(t, err) != node.NotFound {
			t.Errorf("the data was kept: %v", err)
		}
	})
}

// slowCommit leaves time for another lookup between reading and writing.
type slowCommit struct{ *mortal }

func (s slowCommit) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	n, err := s.mortal.Commit(ctx, c)
	time.Sleep(time.Second)
	return n, err
}

// Of lookups at the same time one gets a token, and it stays the right one for those that come later.
func TestLookupsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		n := waiting(t, w)
		w.crash()
		w.faults = func(m *mortal) core.Store { return slowCommit{m} }
		w.start()
		defer w.close()
		word := w.word(n.UUID)
		tokens := make(chan string, 5)
		for i := range 5 {
			go func() {
				time.Sleep(time.Duration(i) * 300 * time.Millisecond)
				_, token, _ := w.e.Lookup(w.ctx, []string{macOf(n.UUID)}, "", node.Caller{Word: word})
				tokens <- token
			}()
		}
		var real []string
		for range 5 {
			if token := <-tokens; len(token) >= 32 {
				real = append(real, token)
			}
		}
		if slices.Sort(real); len(real) == 0 || len(slices.Compact(real)) != 1 {
			t.Fatalf("the tokens given out are %q, expected one", real)
		}
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: real[0], AgentVersion: "1"}
		if err := w.e.Heartbeat(w.ctx, n.UUID, hb); err != nil {
			t.Error(err)
		}
	})
}
