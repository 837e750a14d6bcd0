package jobs_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// withInfo makes an available node that boots from its virtual drive, with more keys of driver_info.
func withInfo(w *enginetest.World, info map[string]any) node.Node {
	w.T.Helper()
	n := byMedium(w)
	_, err := w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error {
		n.DriverInfo = info
		return nil
	})
	w.Must(err)
	return n
}

// TestSiteMedium: a boot of the agent has the site's own medium, the settings are in the second drive, and both drives
// are empty at the end. A rescue has its own medium.
func TestSiteMedium(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mediumWorld(t, 1)
		w.Start()
		defer w.Close()
		n := withInfo(w, map[string]any{"deploy_iso": "http://site/agent.iso", "rescue_iso": "http://site/rescue.iso",
			"config_via_removable": "true"})
		for _, step := range []struct {
			verb   node.Event
			medium string
		}{
			{node.Provide, "http://site/agent.iso"}, {node.Deploy, "http://site/agent.iso"},
			{node.RescueIt, "http://site/rescue.iso"},
		} {
			before := inserted(w, n.UUID)
			w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: step.verb, RescuePassword: "open, please"}))
			for inserted(w, n.UUID) == before {
				time.Sleep(100 * time.Millisecond)
			}
			w.Mu.Lock()
			medium, stick := w.Machine(n.UUID).Medium, w.Machine(n.UUID).Stick
			w.Mu.Unlock()
			if medium != step.medium || !strings.HasPrefix(stick, "http://media/"+n.UUID) || !strings.HasSuffix(stick, ".img") {
				t.Errorf("%s: the drives have %q and %q", step.verb, medium, stick)
			}
			n = w.Settled(n.UUID)
			w.Mu.Lock()
			medium, stick = w.Machine(n.UUID).Medium, w.Machine(n.UUID).Stick
			w.Mu.Unlock()
			if n.LastError != "" || medium+stick != "" {
				t.Errorf("%s: node is %q (%s), the drives have %q and %q", step.verb, n.ProvisionState, n.LastError, medium,
					stick)
			}
		}
	})
}

// TestSiteMediumRefused: a medium of another protocol than the node's is not inserted, and an agent without a proof of
// its node is not booted.
func TestSiteMediumRefused(t *testing.T) {
	for want, info := range map[string]map[string]any{
		"vmedia_transport_protocol of node":            {"vmedia_transport_protocol": "HTTPS"},
		"set driver_info/config_via_removable to true": {"deploy_iso": "http://site/agent.iso"},
		"expected an http(s) URL":                      {"deploy_iso": "/srv/agent.iso"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := mediumWorld(t, 1)
			w.Start()
			defer w.Close()
			n := withInfo(w, info)
			if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("refused with %q, want %q", err, want)
				}
				return
			}
			if n = w.Settled(n.UUID); !strings.Contains(n.LastError, want) || inserted(w, n.UUID) != 0 {
				t.Errorf("node is %q (%s), want %q", n.ProvisionState, n.LastError, want)
			}
		})
	}
}

// TestAgentByLease: the agent of a site's medium without settings gets its token at the address that was lent to its
// machine, while the run waits for it. No other address gets it.
func TestAgentByLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mediumWorld(t, 1)
		w.Proof.Leases = true
		w.Start()
		defer w.Close()
		n := withInfo(w, map[string]any{"deploy_iso": "http://site/agent.iso"})
		w.Mute[n.UUID] = true
		lent := netip.MustParseAddr("10.0.0.5")
		w.Must(w.Store.SaveLease(w.Ctx, node.Lease{MAC: enginetest.MACOf(n.UUID), IP: lent.String(),
			Expires: time.Now().Add(time.Hour)}))
		ask := func(from netip.Addr) string {
			_, token, err := w.E.Lookup(w.Ctx, []string{enginetest.MACOf(n.UUID)}, n.UUID, node.Caller{From: from})
			if err != nil {
				return ""
			}
			return token
		}
		if token := ask(lent); token != "" {
			t.Errorf("a node at rest gives out %q", token)
		}
		w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}))
		for inserted(w, n.UUID) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if token := ask(netip.MustParseAddr("10.0.0.6")); token != "" {
			t.Errorf("another address gets %q", token)
		}
		if token := ask(lent); len(token) < 32 {
			t.Errorf("the machine gets %q", token)
		}
	})
}
