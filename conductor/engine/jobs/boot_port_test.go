package jobs_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestInspectWithoutPorts: the BMC says by which addresses the machine boots. Where it
// does not, nothing is waited for that cannot come.
func TestInspectWithoutPorts(t *testing.T) {
	for name, tc := range map[string]struct {
		macs   []string
		proof  core.RamdiskAuth
		state  node.State
		ports  int
		reason string
	}{
		"its BMC tells of interfaces": {[]string{"52:54:00:aa:00:01", "52:54:00:aa:00:02"}, core.RamdiskAuth{Words: true},
			node.InspectWait, 2, ""},
		"its BMC tells of none": {nil, core.RamdiskAuth{Words: true}, node.InspectFailed, 0, "baremetal port create"},
		"its BMC tells of another node's": {[]string{"52:54:00:bb:00:01"}, core.RamdiskAuth{Words: true}, node.InspectFailed,
			0, "baremetal port create"},
		"others answer for network boots": {nil, core.RamdiskAuth{}, node.InspectWait, 0, ""},
		"its BMC tells of half of another": {[]string{"52:54:00:bb:00:01", "52:54:00:aa:00:01"},
			core.RamdiskAuth{Words: true}, node.InspectWait, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Proof, w.Hardware = tc.proof, node.System{MACs: tc.macs}
				w.Start()
				defer w.Close()
				other := w.Create("redfish")
				if _, err := w.E.CreatePort(w.Ctx,
					node.Port{NodeUUID: other.UUID, Address: "52:54:00:bb:00:01", PXEEnabled: true}); err != nil {
					t.Fatal(err)
				}
				n := portless(t, w)
				w.Ask(n.UUID, node.Manage, node.Manageable)
				if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(4 * time.Second)
				n, err := w.E.Node(w.Ctx, n.UUID)
				if err != nil || n.ProvisionState != tc.state || !strings.Contains(n.LastError, tc.reason) {
					t.Errorf("node is %q (%s), %v", n.ProvisionState, n.LastError, err)
				}
				ports, err := w.E.Ports(w.Ctx, node.PortQuery{NodeUUID: n.UUID})
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
func portless(t *testing.T, w *enginetest.World) node.Node {
	t.Helper()
	n, err := w.E.CreateNode(w.Ctx,
		node.Node{Driver: "redfish", Interfaces: map[string]string{"deploy": "direct", "inspect": "agent"}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCleanWithoutPorts: no other run waits for a ramdisk that cannot come either.
func TestCleanWithoutPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := portless(t, w)
		w.Ask(n.UUID, node.Manage, node.Manageable)
		since := time.Now()
		n = w.Ask(n.UUID, node.Provide, node.CleanFailed)
		if !strings.Contains(n.LastError, "has no ports") || time.Since(since) > 10*time.Second {
			t.Errorf("after %s: %s", time.Since(since), n.LastError)
		}
	})
}

// TestInspectionWithATakenAddress: two BMCs report the same address. The second inspection ends all the same.
func TestInspectionWithATakenAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Hardware = node.System{CPUs: 2, MACs: []string{"02-00-00-00-00-01", "02:00:00:00:00:01", "nonsense"}}
		w.Start()
		defer w.Close()
		for i := range 2 {
			n := w.Create("redfish")
			if err := w.E.DeletePort(w.Ctx, portOf(w, n.UUID)); err != nil { // a node that has ports gets no others
				t.Fatal(err)
			}
			if _, err := w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error {
				n.Interfaces["inspect"] = "redfish"
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			w.Ask(n.UUID, node.Manage, node.Manageable)
			w.Ask(n.UUID, node.Inspect, node.Manageable)
			ports, err := w.E.Ports(w.Ctx, node.PortQuery{NodeUUID: n.UUID})
			if err != nil || len(ports) != 1-i {
				t.Errorf("node %d has ports %v, %v", i, ports, err)
			}
		}
	})
}

// portOf is the only port of a node.
func portOf(w *enginetest.World, uuid string) string {
	w.T.Helper()
	ports, err := w.E.Ports(w.Ctx, node.PortQuery{NodeUUID: uuid})
	if err != nil || len(ports) != 1 {
		w.T.Fatalf("ports %v, %v", ports, err)
	}
	return ports[0].UUID
}
