package jobs_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// family makes a manageable parent and its children.
func family(w *enginetest.World, children int) (parent string, all []string) {
	w.T.Helper()
	parent = w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable).UUID
	for range children {
		c := w.Create("redfish").UUID
		if _, err := w.E.UpdateNode(w.Ctx, c, func(n *node.Node) error { n.ParentNode = parent; return nil }); err != nil {
			w.T.Fatal(err)
		}
		all = append(all, c)
	}
	return parent, all
}

// onChildren asks a parent to have its children do a step.
func onChildren(w *enginetest.World, parent string, s node.Step) {
	w.T.Helper()
	s.OnChildren = true
	if err := w.E.Provision(w.Ctx, parent, plan.Request{Verb: node.Clean, CleanSteps: []node.Step{s}}); err != nil {
		w.T.Fatal(err)
	}
}

// Parents wait for effects of their children: were they to keep their slots,
// enough of them would wait for ever.
func TestParentsTakeNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Settings.MaxConcurrentClean = 0
		b.Start()
		defer b.Close()
		var parents, children []string
		for range 70 { // more than there are slots
			p, c := family(b.World, 1)
			parents, children = append(parents, p), append(children, c...)
		}
		b.Set(func() { b.Deaf = true })
		for _, c := range children { // busy, so that all parents begin before any child does
			b.Push(c, node.PowerOn)
			if err := b.E.SetPower(b.Ctx, c, node.SoftPowerOff, 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range parents {
			onChildren(b.World, p, node.Step{Interface: "power", Step: "power_on"})
		}
		time.Sleep(10 * time.Second)
		b.Set(func() { b.Deaf = false })
		for _, c := range children {
			b.Push(c, node.PowerOff)
		}
		for i, p := range parents {
			if n := b.Settled(p); n.ProvisionState != node.Manageable || n.LastError != "" {
				t.Fatalf("parent ends in %q: %s", n.ProvisionState, n.LastError)
			}
			if c := b.Settled(children[i]); c.PowerState != node.PowerOn {
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
		fate func(w *enginetest.World, children []string) error
		want string // in last_error; "" when the parent succeeds
	}{
		"nothing happens": {wait, func(*enginetest.World, []string) error { return nil }, ""},
		"a verb is asked of a waiting child": {wait, func(w *enginetest.World, c []string) error {
			err := w.E.Provision(w.Ctx, c[0], plan.Request{Verb: node.Manage})
			if err == nil || !strings.Contains(err.Error(), "is locked") {
				w.T.Errorf("a child at a step takes a verb: %v", err)
			}
			return nil
		}, ""},
		"power is asked of a waiting child": {wait, func(w *enginetest.World, c []string) error {
			return w.E.SetPower(w.Ctx, c[0], node.PowerOn, 0)
		}, ""},
		"a waiting child is deleted": {wait, func(w *enginetest.World, c []string) error {
			return w.E.DeleteNode(w.Ctx, c[0])
		}, "could not be found"},
		"a stranger is named": {named("nobody"), func(*enginetest.World, []string) error { return nil },
			"[nobody] are no child nodes"},
		"the conductor crashes": {wait, func(w *enginetest.World, _ []string) error { w.Crash(); w.Start(); return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Start()
				defer w.Close()
				parent, children := family(w, 3)
				onChildren(w, parent, tc.step)
				time.Sleep(5 * time.Second)
				if err := tc.fate(w, children); err != nil {
					t.Fatal(err)
				}
				n := w.Settled(parent)
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
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		parent, children := family(b.World, 2)
		busy, free := children[0], children[1]
		b.Set(func() { b.Awake = true })
		b.Push(busy, node.PowerOn)
		b.Must(b.E.SetPower(b.Ctx, busy, node.SoftPowerOff, time.Hour))
		onChildren(b.World, parent, node.Step{Interface: "power", Step: "power_on"})
		if n := b.Settled(parent); !strings.Contains(n.LastError, busy) || strings.Contains(n.LastError, free) {
			t.Errorf("%s: %q", n.ProvisionState, n.LastError)
		}
		if n := b.Node(free); n.PowerState != node.PowerOn {
			t.Errorf("the child that is free is %q", n.PowerState)
		}
	})
}

// TestChildOfAnotherOwner: a child that has got another owner does no step of its parent. The others do, if they are
// named.
func TestChildOfAnotherOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		parent, children := family(b.World, 2)
		_, err := b.E.UpdateNode(b.Ctx, children[0], func(n *node.Node) error { n.Owner = "red"; return nil })
		b.Must(err)
		step := node.Step{Interface: "power", Step: "power_on"}
		onChildren(b.World, parent, step)
		n := b.Settled(parent)
		if n.ProvisionState != node.CleanFailed || !strings.Contains(n.LastError, "1 child nodes have another owner") {
			t.Errorf("%s: %q", n.ProvisionState, n.LastError)
		}
		for _, child := range children {
			if is := b.Node(child); is.PowerState == node.PowerOn || is.Child != nil {
				t.Errorf("a child was given the step: %q %v", is.PowerState, is.Child)
			}
		}
		b.Ask(parent, node.Manage, node.Manageable)
		step.Children = children[1:]
		onChildren(b.World, parent, step)
		if n := b.Settled(parent); n.LastError != "" || b.Node(children[1]).PowerState != node.PowerOn {
			t.Errorf("the child of the same owner: %s: %q", n.ProvisionState, n.LastError)
		}
	})
}
