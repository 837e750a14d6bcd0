package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestInspectWithoutPorts: the BMC says by which addresses the machine boots. Where it
// does not, nothing is waited for that cannot come.
func TestInspectWithoutPorts(t *testing.T) {
	for name, tc := range map[string]struct {
		macs   []string
		proof  core.Proof
		state  node.State
		ports  int
		reason string
	}{
		"its BMC tells of interfaces": {[]string{"52:54:00:aa:00:01", "52:54:00:aa:00:02"}, core.Proof{Words: true},
			node.InspectWait, 2, ""},
		"its BMC tells of none": {nil, core.Proof{Words: true}, node.InspectFailed, 0, "baremetal port create"},
		"its BMC tells of another node's": {[]string{"52:54:00:bb:00:01"}, core.Proof{Words: true}, node.InspectFailed, 0,
			"baremetal port create"},
		"others answer for network boots": {nil, core.Proof{}, node.InspectWait, 0, ""},
		"its BMC tells of half of another": {[]string{"52:54:00:bb:00:01", "52:54:00:aa:00:01"}, core.Proof{Words: true},
			node.InspectWait, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.proof, w.system = tc.proof, node.System{MACs: tc.macs}
				w.start()
				defer w.close()
				other := w.create("redfish")
				if _, err := w.e.CreatePort(w.ctx,
					node.Port{NodeUUID: other.UUID, Address: "52:54:00:bb:00:01", PXEEnabled: true}); err != nil {
					t.Fatal(err)
				}
				n := portless(t, w)
				w.ask(n.UUID, node.Manage, node.Manageable)
				if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(4 * time.Second)
				n, err := w.e.Node(w.ctx, n.UUID)
				if err != nil || n.ProvisionState != tc.state || !strings.Contains(n.LastError, tc.reason) {
					t.Errorf("node is %q (%s), %v", n.ProvisionState, n.LastError, err)
				}
				ports, err := w.e.Ports(w.ctx, node.PortQuery{NodeUUID: n.UUID})
				if err != nil || len(ports) != tc.ports {
					t.Errorf("ports %+v, %v", ports, err)
				}
				for _, p := range ports {
					if !p.PXEEnabled {
						t.Errorf("port %s is not for booting", p.Address)
					}
				}
			})
		})
	}
}

// portless makes a node without ports.
func portless(t *testing.T, w *world) node.Node {
	t.Helper()
	n, err := w.e.CreateNode(w.ctx,
		node.Node{Driver: "redfish", Interfaces: map[string]string{"deploy": "direct", "inspect": "agent"}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCleanWithoutPorts: no other run waits for a ramdisk that cannot come either.
func TestCleanWithoutPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := portless(t, w)
		w.ask(n.UUID, node.Manage, node.Manageable)
		since := time.Now()
		n = w.ask(n.UUID, node.Provide, node.CleanFailed)
		if !strings.Contains(n.LastError, "has no ports") || time.Since(since) > 10*time.Second {
			t.Errorf("after %s: %s", time.Since(since), n.LastError)
		}
	})
}

// TestInspectionWithATakenAddress: two BMCs report the same address. The second inspection ends all the same.
func TestInspectionWithATakenAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.system = node.System{CPUs: 2, MACs: []string{"02-00-00-00-00-01", "02:00:00:00:00:01", "nonsense"}}
		w.start()
		defer w.close()
		for i := range 2 {
			n := w.create("redfish")
			if err := w.e.DeletePort(w.ctx, portOf(w, n.UUID)); err != nil { // a node that has ports gets no others
				t.Fatal(err)
			}
			if _, err := w.e.UpdateNode(w.ctx, n.UUID, func(n *node.Node) error {
				n.Interfaces["inspect"] = "redfish"
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			w.ask(n.UUID, node.Manage, node.Manageable)
			w.ask(n.UUID, node.Inspect, node.Manageable)
			ports, err := w.e.Ports(w.ctx, node.PortQuery{NodeUUID: n.UUID})
			if err != nil || len(ports) != 1-i {
				t.Errorf("node %d has ports %v, %v", i, ports, err)
			}
		}
	})
}

// portOf is the only port of a node.
func portOf(w *world, uuid string) string {
	w.t.Helper()
	ports, err := w.e.Ports(w.ctx, node.PortQuery{NodeUUID: uuid})
	if err != nil || len(ports) != 1 {
		w.t.Fatalf("ports %v, %v", ports, err)
	}
	return ports[0].UUID
}
