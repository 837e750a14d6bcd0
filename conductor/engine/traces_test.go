package engine_test

import (
	"context"
	"flag"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces/tracestest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// traced runs a scene in virtual time, with a tracer for each of some conductors, and sends their traces to a collector
// by HTTP.
func traced(t *testing.T, conductors int, scene func(w *enginetest.World)) *tracestest.Receiver {
	t.Helper()
	collector := &tracestest.Receiver{}
	server := httptest.NewServer(collector)
	defer server.Close()
	to, err := traces.NewTarget(server.URL, "", "")
	if err != nil {
		t.Fatal(err)
	}
	made := make([]*traces.Tracer, conductors)
	for i := range made {
		made[i] = traces.New(traces.Config{Target: to, Conductor: "test", Version: "1", Log: slog.New(slog.DiscardHandler)})
	}
	next := 0
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Tracer = func() *traces.Tracer { next++; return made[next-1] }
		w.Start()
		defer w.Close()
		scene(w)
	})
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tracer := range made {
		tracer.Run(ended)
		if _, dropped := tracer.Counts(); dropped > 0 {
			t.Fatalf("%d spans were dropped", dropped)
		}
	}
	if _, _, faults := collector.Last(); len(faults) > 0 {
		t.Fatalf("the collector does not understand: %v", faults)
	}
	return collector
}

// traceOf is the root of the only activity of that name, and all spans of its trace.
func traceOf(t *testing.T, c *tracestest.Receiver, activity string) (root tracestest.Span, all []tracestest.Span) {
	t.Helper()
	count := 0
	for _, s := range c.Spans() {
		if s.Parent == "" && s.Name == activity {
			root = s
			count++
		}
	}
	if count != 1 {
		t.Fatalf("%d roots are named %s, expected 1", count, activity)
	}
	for _, s := range c.Spans() {
		if s.Trace == root.Trace {
			all = append(all, s)
		}
	}
	return root, all
}

// TestTraces compares the traces of a machine's life with golden trees.
func TestTraces(t *testing.T) {
	c := traced(t, 1, func(w *enginetest.World) {
		w.Settings.FastTrack = false
		n := w.Create("redfish")
		_, err := w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error { n.Interfaces["rescue"] = "agent"; return nil })
		w.Must(err)
		w.Ask(n.UUID, node.Manage, node.Manageable)
		w.Ask(n.UUID, node.Inspect, node.Manageable)
		w.Ask(n.UUID, node.Provide, node.Available)
		w.Ask(n.UUID, node.Deploy, node.Active)
		w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.RescueIt, RescueHash: "$6$salt$hash"}))
		w.Settled(n.UUID)
		w.Ask(n.UUID, node.Unrescue, node.Active)
		w.Must(w.E.SetPower(w.Ctx, n.UUID, node.PowerOff, 0))
		w.Settled(n.UUID)
	})
	for _, activity := range []string{"verify", "inspect", "clean", "rescue", "unrescue", "power.request"} {
		t.Run(activity, func(t *testing.T) { golden(t, c, activity) })
	}
}

func golden(t *testing.T, c *tracestest.Receiver, activity string) {
	_, all := traceOf(t, c, activity)
	got, err := tracestest.Tree(all, nil)
	if err != nil {
		t.Fatalf("%v:\n%s", err, got)
	}
	path := filepath.Join("testdata", "traces", activity+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("trace of %s (-want +got):\n%s", activity, diff)
	}
}

// TestTraceOfDeploy: the root names the node and the user, steps have the conductor's times, agents' steps their own.
func TestTraceOfDeploy(t *testing.T) {
	c := traced(t, 1, func(w *enginetest.World) {
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		w.Ask(n.UUID, node.Provide, node.Available)
		w.Must(w.E.Provision(core.WithUser(w.Ctx, "ada", "engines"), n.UUID, plan.Request{Verb: node.Deploy}))
		w.Settled(n.UUID)
	})
	golden(t, c, "deploy")
	root, all := traceOf(t, c, "deploy")
	for key, want := range map[string]string{"ferrite.activity": "deploy", "ferrite.verb": "deploy", "user.name": "ada",
		"ferrite.project": "engines", "ferrite.state": "active", "ferrite.resumed": "false",
		"ferrite.node.driver": "redfish"} {
		if root.Attrs[key] != want {
			t.Errorf("attribute %s of the root is %q, want %q", key, root.Attrs[key], want)
		}
	}
	for _, s := range all {
		if s.Began.Before(root.Began) || s.Ended.After(root.Ended) {
			t.Errorf("span %s from %s to %s, root from %s to %s", s.Name, s.Began, s.Ended, root.Began, root.Ended)
		}
		if strings.HasPrefix(s.Name, "step ") && !s.Ended.After(s.Began) {
			t.Errorf("step %s takes no time", s.Name)
		}
	}
}

// TestTraceOfFailure: the reason equals last_error.
func TestTraceOfFailure(t *testing.T) {
	reason := ""
	c := traced(t, 1, func(w *enginetest.World) {
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		w.Mu.Lock()
		w.Broken[n.UUID] = true
		w.Mu.Unlock()
		w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}))
		reason = w.Settled(n.UUID).LastError
	})
	root, all := traceOf(t, c, "clean")
	if reason == "" || root.Failure != reason {
		t.Errorf("the root failed with %q, the node with %q", root.Failure, reason)
	}
	failed := map[string]bool{}
	for _, s := range all {
		failed[s.Name] = failed[s.Name] || s.Failure != ""
	}
	if !failed["step power.power_off"] || !failed["power.power_off"] {
		t.Errorf("neither step nor effect have failed: %v", failed)
	}
}

// TestTraceGoesOn ends the conductor in the middle of a deploy, by a kill and by a stop: the next one continues
// the trace, and the root comes once.
func TestTraceGoesOn(t *testing.T) {
	for _, at := range []time.Duration{time.Second, 4 * time.Second, 12 * time.Second, 21 * time.Second} {
		for _, kill := range []bool{false, true} {
			c := traced(t, 2, func(w *enginetest.World) {
				n := w.Create("redfish")
				w.Ask(n.UUID, node.Manage, node.Manageable)
				w.Ask(n.UUID, node.Provide, node.Available)
				w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Deploy}))
				time.Sleep(at)
				if kill {
					w.Crash()
				} else {
					w.End()
				}
				time.Sleep(2 * time.Second)
				w.Start()
				if n := w.Settled(n.UUID); n.ProvisionState != node.Active {
					t.Errorf("node is %q, %s", n.ProvisionState, n.LastError)
				}
			})
			root, all := traceOf(t, c, "deploy")
			if root.Attrs["ferrite.resumed"] != "true" {
				t.Errorf("ended after %s: the root does not say that it was resumed", at)
			}
			if tree, err := tracestest.Tree(all, nil); err != nil || !strings.Contains(tree, "available -> deploying\n") ||
				!strings.Contains(tree, "deploying -> active\n") {
				t.Errorf("ended after %s, kill %v: %v\n%s", at, kill, err, tree)
			}
		}
	}
}
