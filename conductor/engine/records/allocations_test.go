package records_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// parting is a way to part a node from its allocation, and when it is refused.
type parting struct {
	state   node.State
	edit    func(*node.Node)
	release string // the error of deleting the allocation; "" when it is done
	remove  string // the error of an edit that removes instance_uuid
}

func partings() map[string]parting {
	broken := func(n *node.Node) { n.Maintenance = true }
	const (
		active     = "because the node is active (and maintenance mode is off)"
		updates    = "where updates are not allowed (and maintenance mode is off)"
		transition = "can not be updated while a state transition is in progress"
		instance   = "with an allocation can not have instance_uuid removed"
	)
	return map[string]parting{
		"available":              {node.Available, nil, "", ""},
		"active":                 {node.Active, nil, active, instance},
		"active, in maintenance": {node.Active, broken, "", ""},
		"rescue":                 {node.Rescue, nil, "", instance},
		"deploy failed":          {node.DeployFailed, nil, "", instance},
		"waiting":                {node.DeployWait, nil, updates, transition},
		"waiting, and broken":    {node.DeployWait, broken, "", ""},
		"manageable":             {node.Manageable, nil, "", ""},
	}
}

// TestPartings: the states in which an allocation and its node can be separated, and by which request.
func TestPartings(t *testing.T) {
	for name, c := range partings() {
		for how, want := range map[string]string{"delete": c.release, "edit": c.remove} {
			s := mem.New()
			n := enginetest.Offer(t, s, "n1", "bm", nil)
			e, end := enginetest.StartOn(t, s, "one")
			if _, err := e.Catalogs().Allocations.Create(t.Context(),
				node.Allocation{ResourceClass: "bm", Name: "a1"}); err != nil {
				t.Fatal(err)
			}
			made := decided(t, s)[0]
			end()
			n, err := s.Node(t.Context(), n.UUID)
			if err != nil {
				t.Fatal(err)
			}
			n.ProvisionState, n.TargetProvisionState = c.state, node.States[c.state].Target
			if c.edit != nil {
				c.edit(&n)
			}
			if _, err := s.Commit(t.Context(), node.Change{Save: &n}); err != nil {
				t.Fatal(err)
			}
			if how == "delete" {
				err = e.Catalogs().Allocations.Delete(t.Context(), "a1")
			} else {
				_, err = e.UpdateNode(t.Context(), "n1", func(n *node.Node) error { n.InstanceUUID = ""; return nil })
			}
			if want == "" && err != nil || want != "" &&
				(!errors.Is(err, node.ErrConflict) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %s: %v, want %q", name, how, err, want)
			}
			n, err = s.Node(t.Context(), n.UUID)
			if parted := n.InstanceUUID == ""; err != nil || parted != (want == "") || !parted && n.AllocationUUID != made.UUID {
				t.Errorf("%s, %s: the node has become %+v, %v", name, how, n, err)
			}
			consistent(t, s)
		}
	}
}

// TestMovingNode: nothing else of a node on its way can be edited, in
// maintenance or not.
func TestMovingNode(t *testing.T) {
	s := mem.New()
	enginetest.Offer(t, s, "n1", "bm", func(n *node.Node) {
		n.ProvisionState, n.TargetProvisionState, n.Maintenance, n.InstanceUUID = node.DeployWait, node.Active, true, "i1"
	})
	e, end := enginetest.StartOn(t, s, "one")
	defer end()
	for name, edit := range map[string]func(n *node.Node){
		"more than the instance": func(n *node.Node) { n.InstanceUUID, n.Owner = "", "you" },
		"other things":           func(n *node.Node) { n.Extra = map[string]any{"k": 1} },
		"nothing":                func(*node.Node) {},
	} {
		_, err := e.UpdateNode(t.Context(), "n1", func(n *node.Node) error { edit(n); return nil })
		if !errors.Is(err, node.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := s.Node(t.Context(), "n1"); err != nil || n.Owner != "" || n.InstanceUUID != "i1" {
		t.Errorf("the node: %+v, %v", n, err)
	}
}

// TestInstanceEdits: the other checks of edits of a node's instance and owner.
func TestInstanceEdits(t *testing.T) {
	s := mem.New()
	for _, uuid := range []string{"n1", "n2", "n3"} {
		enginetest.Offer(t, s, uuid, "class of "+uuid, func(n *node.Node) { n.Owner = "me" })
	}
	e, end := enginetest.StartOn(t, s, "one")
	defer end()
	for _, a := range []node.Allocation{{ResourceClass: "class of n1", Owner: "me"}, {ResourceClass: "class of n2"}} {
		if _, err := e.Catalogs().Allocations.Create(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	first := decided(t, s)[0]
	for _, c := range []struct {
		name, node, want string
		edit             func(*node.Node)
	}{
		{"another instance", "n1", "is associated with instance " + first.UUID, func(n *node.Node) { n.InstanceUUID = "i9" }},
		{"the same instance", "n1", "", func(n *node.Node) { n.InstanceUUID = first.UUID }},
		{"another's instance", "n3", "is already associated with a node", func(n *node.Node) { n.InstanceUUID = first.UUID }},
		{"an instance", "n3", "", func(n *node.Node) { n.InstanceUUID = "i9" }},
		{"no instance", "n3", "", func(n *node.Node) { n.InstanceUUID = "" }},
		{"owner of an owned allocation's", "n1", "Cannot update owner of node", func(n *node.Node) { n.Owner = "you" }},
		{"owner of another's", "n2", "", func(n *node.Node) { n.Owner = "you" }},
		{"something else", "n1", "", func(n *node.Node) { n.Description = "words" }},
	} {
		_, err := e.UpdateNode(t.Context(), c.node, func(n *node.Node) error { c.edit(n); return nil })
		if c.want == "" && err != nil || c.want != "" &&
			(!errors.Is(err, node.ErrConflict) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	consistent(t, s)
}

// TestBackfilled: an allocation for a node in use is active at once, and a refused one leaves nothing behind.
func TestBackfilled(t *testing.T) {
	s := mem.New()
	active := func(n *node.Node) { n.ProvisionState = node.Active }
	enginetest.Offer(t, s, "n1", "bm", active)
	enginetest.Offer(t, s, "n2", "bm", func(n *node.Node) { active(n); n.InstanceUUID = "i2" })
	enginetest.Offer(t, s, "n3", "bm", nil)
	e, end := enginetest.StartOn(t, s, "one")
	defer end()
	kept := e.Catalogs().Allocations
	a, err := kept.Create(t.Context(), node.Allocation{NodeUUID: "n1", Name: "a1", Traits: []string{}})
	if err != nil || a.State != node.AllocationActive || a.UUID == "" || a.NodeUUID != "n1" || a.ResourceClass != "bm" ||
		a.CreatedAt.IsZero() {
		t.Errorf("backfilled: %+v, %v", a, err)
	}
	if a, err := kept.Create(t.Context(), node.Allocation{NodeUUID: "n2"}); err != nil || a.UUID != "i2" {
		t.Errorf("backfilled with an instance: %+v, %v", a, err)
	}
	for _, c := range []struct {
		ask  node.Allocation
		kind node.Kind
	}{
		{node.Allocation{NodeUUID: "n3"}, node.Invalid},
		{node.Allocation{NodeUUID: "n1"}, node.Conflict},                                 // again
		{node.Allocation{NodeUUID: "n2", Record: node.Record{UUID: "x"}}, node.Conflict}, // of another instance
		{node.Allocation{NodeUUID: "n9"}, node.NotFound},
	} {
		_, err := kept.Create(t.Context(), c.ask)
		var r *node.Refusal
		if !errors.As(err, &r) || r.Kind != c.kind {
			t.Errorf("%+v: %v, want a refusal of kind %d", c.ask, err, c.kind)
		}
	}
	if all := decided(t, s); len(all) != 2 {
		t.Errorf("allocations: %+v", all)
	}
	consistent(t, s)
}

// TestTearDownOfAllocated: the allocation of a node ends with its instance.
func TestTearDownOfAllocated(t *testing.T) {
	s := mem.New()
	n := enginetest.Offer(t, s, "n1", "bm", func(n *node.Node) {
		n.ProvisionState, n.Interfaces = node.Active, map[string]string{"deploy": "fake"}
	})
	e, end := enginetest.StartOn(t, s, "one")
	defer end()
	if _, err := e.Catalogs().Allocations.Create(t.Context(), node.Allocation{NodeUUID: n.UUID}); err != nil {
		t.Fatal(err)
	}
	if err := e.Provision(t.Context(), n.UUID, plan.Request{Verb: node.Delete}); err != nil {
		t.Fatal(err)
	}
	n, err := s.Node(t.Context(), n.UUID)
	if err != nil || n.ProvisionState != node.Available || n.InstanceUUID != "" || n.AllocationUUID != "" {
		t.Errorf("after its end: %+v, %v", n, err)
	}
	if all := decided(t, s); len(all) != 0 {
		t.Errorf("allocations: %+v", all)
	}
	consistent(t, s)
}
