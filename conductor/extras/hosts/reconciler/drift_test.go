package reconciler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// ask asks for a verb as the user alice.
func (w *world) ask(name string, v node.Event) {
	w.tb.Helper()
	w.check(w.eng.Provision(engine.WithUser(context.Background(), "alice", ""), w.node(name).UUID, plan.Request{Verb: v}))
}

// lost reports whether a host's condition Healthy shows the loss of its workload.
func lost(h hostapi.Host) bool {
	for _, c := range h.Status.Conditions {
		if c.Type == hostapi.ConditionHealthy {
			return c.Status == hostapi.False && c.Reason == host.WorkloadLost
		}
	}
	return false
}

// TestUndeployedBehindItsHost: a host reports within seconds that its node was undeployed, and by which user. Nothing
// is written before a request for that, in every later state of the node.
func TestUndeployedBehindItsHost(t *testing.T) {
	for name, then := range map[string]func(w *world){
		"left available": func(*world) {},
		"made manageable": func(w *world) {
			w.ask("a", node.Manage)
			time.Sleep(time.Minute)
		},
		"its node deleted": func(w *world) {
			w.check(w.eng.DeleteNode(context.Background(), w.node("a").UUID))
			w.until("a", "registered anew", func(h hostapi.Host) bool { return lost(h) && h.Status.ErrorType != "" })
		},
		"a restart": func(w *world) {
			w.stop()
			w.start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, mem.New())
				w.start()
				defer func() { w.stop() }()
				w.secret("bmc", "right")
				w.apply("a", withImage("http://images/a"))
				w.becomes("a", hostapi.StateProvisioned)
				at := time.Now()
				w.ask("a", node.Delete)
				h := w.until("a", "in error", lost)
				if waited := time.Since(at); waited > 10*time.Second {
					t.Errorf("the host says so after %s", waited)
				}
				if h.Status.OperationalStatus != hostapi.StatusError ||
					!strings.Contains(h.Status.ErrorMessage, "(delete requested by alice at ") ||
					!strings.Contains(h.Status.ErrorMessage, "ferrite host reprovision a -n default") {
					t.Errorf("the host says %+v", h.Status)
				}
				w.until("a", "at rest", func(hostapi.Host) bool { return w.node("a").ProvisionState == node.Available })
				then(w)
				time.Sleep(24 * time.Hour)
				if h := w.host("a"); !lost(h) || h.Status.OperationalStatus != hostapi.StatusError {
					t.Errorf("after a day the host says %+v", h.Status)
				}
				if s := w.node("a").ProvisionState; s == node.Active || s.Class() != node.Stable {
					t.Errorf("without being asked for, the node is %s", s)
				}
				w.edit("a", annotate(hostapi.AnnotationReprovision, ""))
				h = w.until("a", "provisioned again", func(h hostapi.Host) bool {
					return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.ErrorType == "" && !lost(h) &&
						w.node("a").ProvisionState == node.Active
				})
				if _, there := h.Annotations[hostapi.AnnotationReprovision]; there {
					t.Error("the annotation is still there, to erase the machine once more")
				}
			})
		})
	}
}

// TestDeployedBehindItsHost: a host that waits for an image does not take the workload of another for its own.
func TestDeployedBehindItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.New())
		w.start()
		defer func() { w.stop() }()
		w.secret("bmc", "right")
		w.apply("a", nil)
		w.becomes("a", hostapi.StateAvailable)
		w.ask("a", node.Provide)
		w.until("a", "clean", func(hostapi.Host) bool { return w.node("a").ProvisionState == node.Available })
		w.ask("a", node.Deploy)
		h := w.fails("a", hostapi.ProvisionedRegistrationError)
		if !strings.Contains(h.Status.ErrorMessage, "runs a workload that is not of this host") {
			t.Errorf("the host says %+v", h.Status)
		}
		w.edit("a", withImage("http://images/a"))
		time.Sleep(time.Hour)
		if h := w.host("a"); h.Status.Provisioning.State == hostapi.StateProvisioned || h.Status.ErrorType == "" {
			t.Errorf("the host takes the workload for its image: %+v", h.Status)
		}
		w.ask("a", node.Delete)
		w.until("a", "provisioned", func(h hostapi.Host) bool {
			return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.ErrorType == "" &&
				w.node("a").InstanceInfo["image_source"] == "http://images/a"
		})
	})
}

// TestGuard: the node of a host is recognised, even before the first look at its host. Another node is free, and so is
// a node that only has the name.
func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.New())
		w.start()
		defer func() { w.stop() }()
		w.secret("bmc", "right")
		w.apply("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioned)
		ctx, r := context.Background(), plan.Request{Verb: node.Delete}
		of := w.node("a")
		other, err := w.eng.CreateNode(ctx, node.Node{Name: "default~b", Driver: "fake-hardware"})
		w.check(err)
		check := func(when string) {
			t.Helper()
			err := w.rec.RefuseVerb(ctx, of, r)
			if !errors.Is(err, node.ErrConflict) || !strings.Contains(err.Error(), "belongs to BareMetalHost default/a") {
				t.Errorf("%s: undeploy answers %v", when, err)
			}
			if err := w.rec.RefuseVerb(ctx, of, plan.Request{Verb: plan.Forget}); !errors.Is(err, node.ErrConflict) {
				t.Errorf("%s: delete answers %v", when, err)
			}
			if err := w.rec.RefuseVerb(ctx, other, r); err != nil {
				t.Errorf("%s: another node: %v", when, err)
			}
			namesake := of
			namesake.UUID = other.UUID
			if err := w.rec.RefuseVerb(ctx, namesake, r); err != nil {
				t.Errorf("%s: a node of the same name: %v", when, err)
			}
		}
		check("at work")
		w.stop()
		w.start()
		check("after a start")
	})
}
