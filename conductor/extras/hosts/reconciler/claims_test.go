package reconciler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Of two hosts with one BMC or one address, the second reports the first. It gets its machine when the first is gone.
func TestRivals(t *testing.T) {
	for name, clash := range map[string]struct {
		with func(*hostapi.Host)
		want string
	}{
		"BMC": {
			func(h *hostapi.Host) {
				h.Spec.BMC.Address = "fake://one/bmc"
			}, "the BMC address fake-hardware://one/bmc is that of host default/a already",
		},
		"MAC": {func(h *hostapi.Host) { h.Spec.BootMACAddress = "52:54:00:00:00:01" },
			"the MAC address 52:54:00:00:00:01 is that of host default/a already"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.apply("a", clash.with)
				w.becomes("a", hostapi.StateAvailable)
				w.apply("b", clash.with)
				if h := w.fails("b", hostapi.RegistrationError); !strings.Contains(h.Status.ErrorMessage, clash.want) {
					t.Errorf("got %q, want %q", h.Status.ErrorMessage, clash.want)
				}
				w.stop()
				w.start()
				time.Sleep(time.Hour)
				if s := w.host("a").Status; s.ErrorType != "" || w.host("b").Status.ErrorType != hostapi.RegistrationError {
					t.Errorf("after a restart the first is %q: %q", s.ErrorType, s.ErrorMessage)
				}
				w.remove("a")
				w.becomes("b", hostapi.StateAvailable)
			})
		})
	}
}

// A change of a document has no effect before the other documents with the same claims are known. A change of its
// node causes a look at a host before the watch has delivered the host's newer document.
func TestRivalNotYetKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			slowAbout{mem.New(), objects.Query{Kind: hostapi.KindSecret, Namespace: "default", Name: "unused", Limit: 1}})
		w.start()
		defer func() { w.stop() }()
		w.secret("bmc", "right")
		w.apply("a", nil)
		w.becomes("a", hostapi.StateAvailable)
		w.secret("typo", "wrong")
		w.apply("b", func(h *hostapi.Host) { h.Spec.BMC.CredentialsName = "typo" })
		w.fails("b", hostapi.RegistrationError)
		w.secret("unused", "right")
		time.Sleep(time.Second)
		w.edit("b", func(h *hostapi.Host) { h.Spec.BMC = hostapi.BMC{Address: "fake://a", CredentialsName: "bmc"} })
		_, err := w.eng.UpdateNode(context.Background(), "default~b", func(n *node.Node) error {
			n.Extra = map[string]any{"rack": "1"}
			return nil
		})
		w.check(err)
		time.Sleep(time.Second)
		if n := w.node("b"); n.ProvisionState != node.Enroll || n.DriverInfo["fake_password"] != "wrong" {
			t.Errorf("the second has come to the BMC of the first: it is %s", n.ProvisionState)
		}
		w.until("b", "refused", func(h hostapi.Host) bool {
			return strings.Contains(h.Status.ErrorMessage, "default/a already")
		})
	})
}

// slowAbout is a database that takes its time over one thing that a conductor asks.
type slowAbout struct {
	database
	slow objects.Query
}

func (s slowAbout) Objects(ctx context.Context, q objects.Query) ([]objects.Row, int64, error) {
	if byConductor := ctx.Done() != nil; byConductor && q == s.slow {
		time.Sleep(10 * time.Second)
	}
	return s.database.Objects(ctx, q)
}

// An address that a node has which is no host's is said, too; one without a name
// is taken over.
func TestAddressOfANode(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		for i, name := range []string{"mine", ""} {
			n, err := w.eng.CreateNode(ctx, node.Node{Driver: "fake-hardware", Name: name})
			w.check(err)
			_, err = w.eng.CreatePort(ctx, node.Port{NodeUUID: n.UUID, Address: fmt.Sprintf("52:54:00:00:00:0%d", i)})
			w.check(err)
		}
		w.apply("a", func(h *hostapi.Host) { h.Spec.BootMACAddress = "52:54:00:00:00:00" })
		if h := w.fails("a", hostapi.RegistrationError); !strings.Contains(h.Status.ErrorMessage,
			"is that of node mine already") {
			t.Errorf("got %q", h.Status.ErrorMessage)
		}
		w.apply("b", func(h *hostapi.Host) { h.Spec.BootMACAddress = "52:54:00:00:00:01" })
		w.becomes("b", hostapi.StateAvailable)
		nodes, err := w.eng.Nodes(ctx, node.Query{})
		w.check(err)
		if len(nodes) != 2 {
			t.Errorf("%d nodes, want the two there were", len(nodes))
		}
	})
}

// If another node that is no host's has the BMC, the host reports it like another host's, before it makes a second node
// for the machine. A node with the host's name is taken over. A node of another machine behind the BMC does not matter.
func TestBMCOfANode(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		for name, system := range map[string]string{"mine": "1", "other": "2"} {
			_, err := w.eng.CreateNode(ctx,
				node.Node{
					Driver: "fake-hardware", Name: name, DriverInfo: map[string]any{"fake_address": "BMC", "fake_system_id": system},
				})
			w.check(err)
		}
		at := func(system string) func(*hostapi.Host) {
			return func(h *hostapi.Host) { h.Spec.BMC.Address = "fake://bmc/" + system }
		}
		w.apply("a", at("1"))
		h := w.fails("a", hostapi.RegistrationError)
		if want := "the BMC address fake-hardware://bmc/1 is that of node mine already: call that " +
			"node default~a"; !strings.HasPrefix(h.Status.ErrorMessage, want) {
			t.Errorf("got %q, want %q", h.Status.ErrorMessage, want)
		}
		w.apply("b", at("3"))
		w.becomes("b", hostapi.StateAvailable)
		_, err := w.eng.UpdateNode(ctx, "mine", func(n *node.Node) error { n.Name = "default~a"; return nil })
		w.check(err)
		w.becomes("a", hostapi.StateAvailable)
		nodes, err := w.eng.Nodes(ctx, node.Query{})
		w.check(err)
		if len(nodes) != 3 {
			t.Errorf("%d nodes, want the two there were, and one", len(nodes))
		}
	})
}

// A node in use by another owner is left alone, for any name of a host: it is neither changed, nor switched off, nor
// deleted with the host.
func TestNodeOfSomebodyElse(t *testing.T) {
	for _, name := range []string{"a", "default~a"} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				ctx := context.Background()
				n, err := w.eng.CreateNode(ctx, node.Node{
					Driver: "fake-hardware", Name: name, InstanceUUID: "6f1e7d0c-5a43-4d43-9d3c-0f2b8b1f7a11",
					DriverInfo: map[string]any{"fake_username": "theirs", "fake_password": "right"},
				})
				w.check(err)
				for _, v := range []node.Event{node.Manage, node.Adopt} {
					w.check(w.eng.Provision(ctx, n.UUID, plan.Request{Verb: v}))
					time.Sleep(time.Hour)
				}
				w.check(w.eng.SetPower(ctx, n.UUID, node.PowerOn, 0))
				time.Sleep(time.Hour)
				before, err := w.eng.Node(ctx, n.UUID)
				w.check(err)
				if before.ProvisionState != node.Active || before.PowerState != node.PowerOn {
					t.Fatalf("the node is %s, %s", before.ProvisionState, before.PowerState)
				}
				w.apply("a", withImage("http://images/a"))
				if h := w.fails("a", hostapi.RegistrationError); !strings.Contains(h.Status.ErrorMessage,
					"in use by another owner") {
					t.Errorf("got %q", h.Status.ErrorMessage)
				}
				time.Sleep(24 * time.Hour)
				w.remove("a")
				w.gone("a")
				after, err := w.eng.Node(ctx, n.UUID)
				w.check(err)
				if after.Name != name || after.ProvisionState != node.Active || after.PowerState != node.PowerOn ||
					after.Maintenance || after.DriverInfo["fake_username"] != "theirs" {
					t.Errorf("the node has become %s, %s, %s, maintenance %v, user %v", after.Name, after.ProvisionState,
						after.PowerState, after.Maintenance, after.DriverInfo["fake_username"])
				}
			})
		})
	}
}

// TestNodeOfAProject: anybody may give his node a host's name. Such a node gets neither the host's BMC nor its name.
// A node with the host's plain name does not keep the host from being registered.
func TestNodeOfAProject(t *testing.T) {
	for name, taken := range map[string]bool{"a": false, "default~a": true} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				ctx := context.Background()
				n, err := w.eng.CreateNode(ctx, node.Node{Driver: "fake-hardware", Name: name, Owner: "blue"})
				w.check(err)
				w.apply("a", nil)
				if taken {
					if h := w.fails("a", hostapi.RegistrationError); !strings.Contains(h.Status.ErrorMessage, "project blue") {
						t.Errorf("got %q", h.Status.ErrorMessage)
					}
				} else {
					w.becomes("a", hostapi.StateAvailable)
				}
				after, err := w.eng.Node(ctx, n.UUID)
				w.check(err)
				if after.Name != name || len(after.DriverInfo) > 0 || after.ProvisionState != node.Enroll {
					t.Errorf("the node has become %s with %v, %s", after.Name, after.DriverInfo, after.ProvisionState)
				}
			})
		})
	}
}
