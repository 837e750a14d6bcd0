package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// family makes a manageable parent and its children.
func (w *world) family(children int) (parent string, all []string) {
	w.t.Helper()
	parent = w.ask(w.create("redfish").UUID, node.Manage, node.Manageable).UUID
	for range children {
		c := w.create("redfish").UUID
		if _, err := w.e.UpdateNode(w.ctx, c, func(n *node.Node) error { n.ParentNode = parent; return nil }); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, c)
	}
	return parent, all
}

// onChildren asks a parent to have its children do a step.
func (w *world) onChildren(parent string, s node.Step) {
	w.t.Helper()
	s.OnChildren = true
	if err := w.e.Provision(w.ctx, parent, plan.Request{Verb: node.Clean, CleanSteps: []node.Step{s}}); err != nil {
		w.t.Fatal(err)
	}
}

// Parents wait for effects of their children: were they to keep their slots,
// enough of them would wait for ever.
func TestParentsTakeNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.settings.MaxConcurrentClean = 0
		b.start()
		defer b.close()
		var parents, children []string
		for range 70 { // more than there are slots
			p, c := b.family(1)
			parents, children = append(parents, p), append(children, c...)
		}
		b.set(func() { b.deaf = true })
		for _, c := range children { // busy, so that all parents begin before any child does
			b.push(c, node.PowerOn)
			if err := b.e.SetPower(b.ctx, c, node.SoftPowerOff, 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range parents {
			b.onChildren(p, node.Step{Interface: "power", Step: "power_on"})
		}
		time.Sleep(10 * time.Second)
		b.set(func() { b.deaf = false })
		for _, c := range children {
			b.push(c, node.PowerOff)
		}
		for i, p := range parents {
			if n := b.settled(p); n.ProvisionState != node.Manageable || n.LastError != "" {
				t.Fatalf("parent ends in %q: %s", n.ProvisionState, n.LastError)
			}
			if c := b.settled(children[i]); c.PowerState != node.PowerOn {
				t.Fatalf("child is %q", c.PowerState)
			}
		}
	})
}

// TestParentAndFateOfChildren: a parent comes to an end for any fate of its children meanwhile.
func TestParentAndFateOfChildren(t *testing.T) {
	wait := node.Step{Interface: "power", Step: "wait", Args: map[string]any{"seconds": 20.0}}
	named := func(names ...string) node.Step {
		s := wait
		s.Children = names
		return s
	}
	for name, tc := range map[string]struct {
		step node.Step
		fate func(w *world, children []string) error
		want string // in last_error; "" when the parent succeeds
	}{
		"nothing happens": {wait, func(*world, []string) error { return nil }, ""},
		"a verb is asked of a waiting child": {wait, func(w *world, c []string) error {
			err := w.e.Provision(w.ctx, c[0], plan.Request{Verb: node.Manage})
			if err == nil || !strings.Contains(err.Error(), "is locked") {
				w.t.Errorf("a child at a step takes a verb: %v", err)
			}
			return nil
		}, ""},
		"power is asked of a waiting child": {wait, func(w *world, c []string) error {
			return w.e.SetPower(w.ctx, c[0], node.PowerOn, 0)
		}, ""},
		"a waiting child is deleted": {wait, func(w *world, c []string) error { return w.e.DeleteNode(w.ctx, c[0]) },
			"could not be found"},
		"a stranger is named": {named("nobody"), func(*world, []string) error { return nil },
			"[nobody] are no child nodes"},
		"the conductor crashes": {wait, func(w *world, _ []string) error { w.crash(); w.start(); return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.start()
				defer w.close()
				parent, children := w.family(3)
				w.onChildren(parent, tc.step)
				time.Sleep(5 * time.Second)
				if err := tc.fate(w, children); err != nil {
					t.Fatal(err)
				}
				n := w.settled(parent)
				if (n.LastError == "") != (tc.want == "") || !strings.Contains(n.LastError, tc.want) {
					t.Errorf("parent ends in %q: %q, want %q", n.ProvisionState, n.LastError, tc.want)
				}
			})
		})
	}
}

// TestChildThatCannotBegin: if one child cannot begin a step, the others do it all the same, and the parent names the
// child that did not.
func TestChildThatCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		defer b.close()
		parent, children := b.family(2)
		busy, free := children[0], children[1]
		b.set(func() { b.awake = true })
		b.push(busy, node.PowerOn)
		b.must(b.e.SetPower(b.ctx, busy, node.SoftPowerOff, time.Hour))
		b.onChildren(parent, node.Step{Interface: "power", Step: "power_on"})
		if n := b.settled(parent); !strings.Contains(n.LastError, busy) || strings.Contains(n.LastError, free) {
			t.Errorf("%s: %q", n.ProvisionState, n.LastError)
		}
		if n := b.node(free); n.PowerState != node.PowerOn {
			t.Errorf("the child that is free is %q", n.PowerState)
		}
	})
}
