package ramdisk_test

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
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestAddressOfNobody: a port may have an address that no interface has, as Ironic takes it. No machine is known by it.
func TestAddressOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		n := w.Waiting()
		defer w.Close()
		for _, mac := range []string{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"} {
			_, err := w.E.CreatePort(w.Ctx, node.Port{NodeUUID: n.UUID, Address: mac})
			w.Must(err)
			if _, token, err := w.E.Lookup(w.Ctx, []string{mac}, "", node.Caller{}); token != "" ||
				enginetest.KindOf(t, err) != node.NotFound {
				t.Errorf("a machine of %s: %q, %v", mac, token, err)
			}
			if _, _, err := w.E.NodeByMAC(w.Ctx, mac); !errors.Is(err, node.ErrNotFound) {
				t.Errorf("the node of %s: %v", mac, err)
			}
		}
	})
}

func TestLookupGivesTheTokenToOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		n := w.Waiting()
		defer w.Close()
		mac, word := []string{enginetest.MACOf(n.UUID)}, w.Word(n.UUID)
		leased := netip.MustParseAddr("10.0.0.5")
		if err := w.Store.SaveLease(w.Ctx,
			node.Lease{MAC: mac[0], IP: leased.String(), Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		_, _, err := w.E.Lookup(w.Ctx, mac, "", node.Caller{From: netip.MustParseAddr("10.0.0.6"), Word: word})
		if enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("lookup from another's address: %v", err)
		}
		if _, _, err := w.E.Lookup(w.Ctx, []string{"52:54:00:ff:ff:ff"}, "",
			node.Caller{From: leased, Word: word}); enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("lookup of a stranger: %v", err)
		}
		_, first, err := w.E.Lookup(w.Ctx, mac, "", node.Caller{From: leased, Word: word})
		if err != nil || len(first) < 32 {
			t.Fatalf("token %q, %v", first, err)
		}
		// The answer may have been lost on its way, with a member that forwarded the request.
		if _, again, err := w.E.Lookup(w.Ctx, mac, "", node.Caller{From: leased, Word: word}); again != first || err != nil {
			t.Errorf("a caller that has its answer not is told %q, %v", again, err)
		}
		if _, again, err := w.E.Lookup(w.Ctx, mac, "", node.Caller{From: leased, Word: "guessed"}); again != "" ||
			enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("the token is given to a caller from there without the word: %q, %v", again, err)
		}
		if _, again, err := w.E.Lookup(w.Ctx, mac, "",
			node.Caller{From: leased, Word: first}); again != agentapi.MaskedToken {
			t.Errorf("an agent that holds the token is told %q, %v", again, err)
		}
		// The conductor may have died before it answered. The same token it is, since an answer may still be on its way.
		w.Crash()
		w.Start()
		if _, again, err := w.E.Lookup(w.Ctx, mac, "", node.Caller{From: leased, Word: word}); again != first || err != nil {
			t.Fatalf("token after a crash %q, %v", again, err)
		}
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: first, AgentVersion: "1"}
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); err != nil {
			t.Error(err)
		}
		hb.CallbackURL = "https://10.6.6.6:9999"
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); enginetest.KindOf(t, err) != node.Invalid {
			t.Errorf("heartbeat from elsewhere: %v", err)
		}
		// Once an agent has used it, it is not given out again, not even after a crash.
		if _, again, err := w.E.Lookup(w.Ctx, mac, "",
			node.Caller{From: leased, Word: word}); again != agentapi.MaskedToken || err != nil {
			t.Errorf("the token in use is given out: %q, %v", again, err)
		}
		w.Crash()
		w.Start()
		if _, again, err := w.E.Lookup(w.Ctx, mac, "",
			node.Caller{From: leased, Word: word}); again != agentapi.MaskedToken || err != nil {
			t.Errorf("the token in use is given out: %q, %v", again, err)
		}
	})
}

// TestHeartbeatsDoNotWrite counts revisions.
func TestHeartbeatsDoNotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Settings.FastTrack, w.Settings.FastTrackAny = true, true
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		n = w.Ask(n.UUID, node.Provide, node.Available)
		hb := agentapi.Heartbeat{CallbackURL: n.Agent.URL, AgentToken: n.Agent.Token, AgentVersion: n.Agent.Version}
		for range 100 {
			if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); err != nil {
				t.Fatal(err)
			}
		}
		after, err := w.E.Node(w.Ctx, n.UUID)
		if err != nil || after.Revision != n.Revision {
			t.Errorf("revision %d became %d, %v", n.Revision, after.Revision, err)
		}
	})
}

func TestStatusAndProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		n := w.Waiting()
		defer w.Close()
		for _, s := range []string{"dhcp offer", "dhcp offer", "kernel"} {
			w.E.BootStage(n.UUID, s, "")
		}
		_, token, err := w.E.Lookup(w.Ctx, []string{enginetest.MACOf(n.UUID)}, "", node.Caller{Word: w.Word(n.UUID)})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.E.Progress(w.Ctx, n.UUID, agentapi.Progress{AgentToken: "guess", Step: "x"}); enginetest.KindOf(t,
			err) != node.Invalid {
			t.Errorf("progress with a guessed token: %v", err)
		}
		for _, done := range []int64{0, 50 << 20} {
			if err := w.E.Progress(w.Ctx, n.UUID, agentapi.Progress{AgentToken: token, Step: "write_image", Stage: "write",
				Done: done, Total: 100 << 20}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: "guess", AgentVersion: "1"}
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); enginetest.KindOf(t, err) != node.Invalid {
			t.Errorf("heartbeat with a guessed token: %v", err)
		}
		s, err := w.E.Status(w.Ctx, n.UUID)
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
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); err != nil {
			t.Fatal(err)
		}
		if s, err = w.E.Status(w.Ctx, n.UUID); err != nil || len(s.Warnings) > 0 {
			t.Errorf("after a heartbeat that was taken the status warns of %q, %v", s.Warnings, err)
		}
	})
}

// TestInspectionFindsItsNode: by MAC, else by BMC address, and only a node
// that waits for it.
func TestInspectionFindsItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		if _, err := w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error {
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
		if _, err := w.E.ContinueInspection(w.Ctx, "", data, raw, node.Caller{}); enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("data for a node at rest: %v", err)
		}
		w.Ask(n.UUID, node.Manage, node.Manageable)
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if _, err := w.E.ContinueInspection(w.Ctx, "", data, raw, node.Caller{Word: w.Word(n.UUID)}); err != nil {
			t.Error(err)
		}
		if n := w.Settled(n.UUID); n.ProvisionState != node.Manageable {
			t.Errorf("node is %q: %s", n.ProvisionState, n.LastError)
		}
		ports, err := w.E.Ports(w.Ctx, node.PortQuery{NodeUUID: n.UUID})
		if err != nil || len(ports) != 1 || w.TimesNoted(n.UUID, "not made ports") != 1 { // the node had one
			t.Errorf("ports %v, %v", ports, err)
		}
	})
}

// TestSharedAddress: a network card that the BMCs of two machines show, with the same address in both, is a port of the
// first. The second is found all the same, whichever of its addresses comes first.
func TestSharedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		const shared = "52:54:00:5a:5a:5a"
		first, second := w.Create("redfish"), w.Create("redfish")
		if _, err := w.E.CreatePort(w.Ctx, node.Port{NodeUUID: first.UUID, Address: shared, PXEEnabled: true}); err != nil {
			t.Fatal(err)
		}
		data := agentapi.Inspection{Inventory: agentapi.Inventory{Interfaces: []agentapi.Interface{
			{Name: "usb0", MACAddress: shared}, {Name: "eth0", MACAddress: enginetest.MACOf(second.UUID), HasCarrier: true}}}}
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		w.Ask(first.UUID, node.Manage, node.Manageable)
		w.Ask(second.UUID, node.Manage, node.Manageable)
		for _, both := range []bool{false, true} { // the first waits too: the word distinguishes them
			for _, n := range []node.Node{first, second} {
				if n.UUID == second.UUID || both {
					if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(3 * time.Second)
			got, err := w.E.ContinueInspection(w.Ctx, "", data, raw, node.Caller{Word: w.Word(second.UUID)})
			if err != nil || got.UUID != second.UUID {
				t.Errorf("first waits %v: node %q, %v; want %s", both, got.UUID, err, second.UUID)
			}
			w.Settled(second.UUID)
		}
	})
}

// TestStrangersAreNotTheMachine: a caller that knows a node's UUID, and has a machine with a lease of its own, gets no
// token, and its data are refused. With the token alone it cannot send this conductor to another address than the
// machine's.
func TestStrangersAreNotTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		n := w.Waiting()
		defer w.Close()
		const stranger = "52:54:00:ee:ee:ee"
		machine, elsewhere := netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("10.0.0.66")
		for mac, ip := range map[string]netip.Addr{enginetest.MACOf(n.UUID): machine, stranger: elsewhere} {
			if err := w.Store.SaveLease(w.Ctx,
				node.Lease{MAC: mac, IP: ip.String(), Expires: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, macs := range [][]string{nil, {stranger}, {"52:54:00:ff:ff:ff"}, {enginetest.MACOf(n.UUID), stranger}} {
			if _, token, err := w.E.Lookup(w.Ctx, macs, n.UUID,
				node.Caller{From: elsewhere, Word: w.Word(n.UUID)}); token != "" || enginetest.KindOf(t, err) != node.NotFound {
				t.Errorf("lookup of %v gives %q, %v", macs, token, err)
			}
		}
		if found, err := w.E.Find(w.Ctx, []string{enginetest.MACOf(n.UUID)}, "", elsewhere); found.UUID != "" ||
			enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("a lookup from before tokens tells of %q, %v", found.UUID, err)
		}
		mac := []string{enginetest.MACOf(n.UUID)}
		if found, err := w.E.Find(w.Ctx, mac, "", machine); found.UUID != n.UUID || err != nil {
			t.Errorf("the machine's tells of %q, %v", found.UUID, err)
		}
		_, token, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{From: machine, Word: w.Word(n.UUID)})
		if err != nil || len(token) < 32 {
			t.Fatalf("the machine's own lookup: %q, %v", token, err)
		}
		hb := agentapi.Heartbeat{AgentToken: token, AgentVersion: "1"}
		for _, callback := range []string{"https://10.0.0.66:9999", "https://127.0.0.1:22", "https://internal:443"} {
			hb.CallbackURL = callback
			if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); enginetest.KindOf(t, err) != node.Invalid {
				t.Errorf("heartbeat that wants to be called at %s: %v", callback, err)
			}
		}
		hb.CallbackURL = "https://10.0.0.5:9999"
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); err != nil {
			t.Error(err)
		}
	})
}

func TestStrangersSendNoInspectionData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Proof.Leases = true
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		if err := w.Store.SaveLease(w.Ctx,
			node.Lease{MAC: enginetest.MACOf(n.UUID), IP: "10.0.0.5", Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		w.Mu.Lock()
		w.Machine(n.UUID).Boot++ // the test takes the place of w.run
		w.Mu.Unlock()
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if n, err := w.E.Node(w.Ctx, n.UUID); err != nil || n.ProvisionState != node.InspectWait {
			t.Fatalf("node is %q, %v", n.ProvisionState, err)
		}
		eth0 := agentapi.Interface{Name: "eth0", MACAddress: enginetest.MACOf(n.UUID)}
		data := agentapi.Inspection{Inventory: agentapi.Inventory{Interfaces: []agentapi.Interface{eth0}}}
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.E.ContinueInspection(w.Ctx, n.UUID, data, raw,
			node.Caller{From: netip.MustParseAddr("10.0.0.66"), Word: w.Word(n.UUID)}); enginetest.KindOf(t,
			err) != node.NotFound {
			t.Errorf("data from elsewhere: %v", err)
		}
		if _, err := w.E.Inspected(w.Ctx, n.UUID); enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("the data was kept: %v", err)
		}
	})
}

// slowCommit leaves time for another lookup between reading and writing.
type slowCommit struct{ *enginetest.Mortal }

func (s slowCommit) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	n, err := s.Mortal.Commit(ctx, c)
	time.Sleep(time.Second)
	return n, err
}

// Of lookups at the same time one gets a token, and it stays the right one for those that come later.
func TestLookupsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		n := w.Waiting()
		w.Crash()
		w.Faults = func(m *enginetest.Mortal) core.Store { return slowCommit{m} }
		w.Start()
		defer w.Close()
		word := w.Word(n.UUID)
		tokens := make(chan string, 5)
		for i := range 5 {
			go func() {
				time.Sleep(time.Duration(i) * 300 * time.Millisecond)
				_, token, _ := w.E.Lookup(w.Ctx, []string{enginetest.MACOf(n.UUID)}, "", node.Caller{Word: word})
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
		if err := w.E.Heartbeat(w.Ctx, n.UUID, hb); err != nil {
			t.Error(err)
		}
	})
}
