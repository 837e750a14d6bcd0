package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// suitable is a node that suits wish.
func suitable(uuid string) node.Node {
	return node.Node{
		UUID: uuid, ResourceClass: "bm", ProvisionState: node.Available, PowerState: node.PowerOff,
		Traits: []string{"CUSTOM_A", "CUSTOM_B"}, Owner: "me",
	}
}

func wish() node.Allocation {
	return node.Allocation{Record: node.Record{UUID: "a1", Revision: 1}, State: node.Allocating, ResourceClass: "bm"}
}

func TestMisfit(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		ask  func(a *node.Allocation)
		is   func(n *node.Node)
	}{
		"as asked for": {"", nil, nil},
		"all of it": {"", func(a *node.Allocation) {
			a.Traits, a.Owner, a.CandidateNodes = []string{"CUSTOM_B"}, "me", []string{"x", "n1"}
		}, nil},
		"on loan":       {"", func(a *node.Allocation) { a.Owner = "you" }, func(n *node.Node) { n.Lessee = "you" }},
		"powered on":    {"", nil, func(n *node.Node) { n.PowerState = node.PowerOn }},
		"another class": {"not of the class", nil, func(n *node.Node) { n.ResourceClass = "gpu" }},
		"no class":      {"not of the class", nil, func(n *node.Node) { n.ResourceClass = "" }},
		"not a candidate": {
			"not among the candidates", func(a *node.Allocation) { a.CandidateNodes = []string{"n2"} }, nil,
		},
		"another's":          {"not owned by or on loan to the owner", func(a *node.Allocation) { a.Owner = "you" }, nil},
		"a part":             {"part of another node", nil, func(n *node.Node) { n.ParentNode = "n9" }},
		"with an instance":   {"with an instance", nil, func(n *node.Node) { n.InstanceUUID = "i1" }},
		"with an allocation": {"with an instance", nil, func(n *node.Node) { n.AllocationUUID = "a2" }},
		"manageable":         {"not available", nil, func(n *node.Node) { n.ProvisionState = node.Manageable }},
		"active":             {"not available", nil, func(n *node.Node) { n.ProvisionState = node.Active }},
		"retired":            {"retired", nil, func(n *node.Node) { n.Retired = true }},
		"in maintenance":     {"in maintenance", nil, func(n *node.Node) { n.Maintenance = true }},
		"of power unknown yet": {"with a power change under way", nil, func(n *node.Node) {
			n.PowerState, n.TargetPowerState = "", node.PowerOff
		}},
		"of unknown power": {"of unknown power state", nil, func(n *node.Node) { n.PowerState = "" }},
		"a trait short": {
			"without the traits", func(a *node.Allocation) { a.Traits = []string{"CUSTOM_A", "CUSTOM_C"} }, nil,
		},
		"the first reason": {
			"not available", nil, func(n *node.Node) { n.ProvisionState, n.Maintenance = node.Enroll, true },
		},
		"class before traits": {
			"not of the class", func(a *node.Allocation) { a.ResourceClass, a.Traits = "gpu", []string{"CUSTOM_C"} }, nil,
		},
		"reservations are not": {"", nil, func(n *node.Node) { n.TargetPowerState = node.PowerOn }},
	} {
		a, n := wish(), suitable("n1")
		if c.ask != nil {
			c.ask(&a)
		}
		if c.is != nil {
			c.is(&n)
		}
		if got := Misfit(&a, &n); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCandidates(t *testing.T) {
	backwards := func(n int, swap func(i, j int)) {
		for i := range n / 2 {
			swap(i, n-1-i)
		}
	}
	var nodes []*node.Node
	for _, uuid := range []string{"n1", "n2", "n3", "n4", "n5"} {
		n := suitable(uuid)
		n.Name = "name-of-" + uuid
		n.Maintenance = uuid == "n4"
		nodes = append(nodes, &n)
	}
	for name, c := range map[string]struct {
		want string
		ask  func(a *node.Allocation)
	}{
		"in the order of the shuffle": {"n5 n3 n2 n1", func(*node.Allocation) {}},
		"the namesake first":          {"n2 n5 n3 n1", func(a *node.Allocation) { a.Name = "name-of-n2" }},
		"as the candidates are named": {
			"n3 n1 n5", func(a *node.Allocation) { a.CandidateNodes = []string{"n3", "n4", "n1", "n9", "n5"} },
		},
		"the namesake of candidates": {
			"n5 n3", func(a *node.Allocation) { a.Name, a.CandidateNodes = "name-of-n5", []string{"n3", "n5"} },
		},
		"a namesake that is unfit": {"n5 n3 n2 n1", func(a *node.Allocation) { a.Name = "name-of-n4" }},
		"none":                     {"", func(a *node.Allocation) { a.ResourceClass = "gpu" }},
	} {
		a := wish()
		c.ask(&a)
		var got []string
		for _, n := range Candidates(&a, nodes, backwards) {
			got = append(got, n.UUID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestInVain(t *testing.T) {
	edited := func(edits ...func(n *node.Node)) []node.Node {
		var nodes []node.Node
		for _, edit := range edits {
			n := suitable("n1")
			edit(&n)
			nodes = append(nodes, n)
		}
		return nodes
	}
	fit := func(*node.Node) {}
	broken := func(n *node.Node) { n.Maintenance = true }
	plain := func(n *node.Node) { n.Traits = nil }
	inUse := func(n *node.Node) { n.ProvisionState, n.InstanceUUID = node.Active, "i1" }
	for name, c := range map[string]struct {
		want  string
		ask   func(a *node.Allocation)
		busy  int
		nodes []node.Node
	}{
		"no such class": {"no available nodes match the resource class bm.", nil, 0, nil},
		"all unfit": {
			"no available nodes match the resource class bm (of 3 nodes of the class: 1 with an instance, 2 in maintenance).",
			nil, 0, edited(broken, inUse, broken),
		},
		"traits": {
			"no suitable nodes have the requested traits CUSTOM_A, CUSTOM_B (of 2 nodes of the class: 1 in maintenance, 1 " +
				"without the traits).", func(a *node.Allocation) { a.Traits = []string{"CUSTOM_A", "CUSTOM_B"} }, 0,
			edited(broken, plain),
		},
		"candidates": {
			"none of the requested nodes are available and match the resource class bm (of 1 candidates: 1 in maintenance).",
			func(a *node.Allocation) { a.CandidateNodes = []string{"n1"} }, 0, edited(broken),
		},
		"all reserved": {
			"could not reserve any of 2 suitable nodes, each of which has an operation under way (of 3 nodes of the class: 1 " +
				"in maintenance, 2 suitable).", nil, 2, edited(fit, broken, fit),
		},
		"taken all the time": {"all nodes were filtered out during reservation (of 1 nodes of the class: 1 suitable).", nil,
			0, edited(fit)},
	} {
		a := wish()
		if c.ask != nil {
			c.ask(&a)
		}
		var s Search
		for i := range c.nodes {
			s.Look(&a, &c.nodes[i])
		}
		got := s.InVain(a, c.busy)
		if want := "Failed to process allocation a1: " + c.want; got.LastError != want || got.State != node.AllocationError {
			t.Errorf("%s: %s, %s\nwant %s", name, got.State, got.LastError, want)
		}
	}
}

func TestAssign(t *testing.T) {
	a, n := wish(), suitable("n1")
	a.Traits, a.LastError = []string{"CUSTOM_A"}, "old"
	n.InstanceInfo = map[string]any{"k": "v"}
	given, taken := Assign(a, n)
	if given.State != node.AllocationActive || given.NodeUUID != "n1" || given.LastError != "" ||
		given.Revision != a.Revision {
		t.Errorf("the allocation became %+v", given)
	}
	if diff := cmp.Diff(map[string]any{"k": "v", "traits": []any{"CUSTOM_A"}}, taken.InstanceInfo); diff != "" ||
		taken.InstanceUUID != "a1" || taken.AllocationUUID != "a1" {
		t.Errorf("the node became %+v, instance_info -want +got:\n%s", taken, diff)
	}
	if len(n.InstanceInfo) != 1 {
		t.Errorf("the node as it was has changed: %v", n.InstanceInfo)
	}
	if Misfit(&a, &taken) == "" {
		t.Error("a node that is taken suits")
	}
}

func TestBackfill(t *testing.T) {
	for name, c := range map[string]struct {
		want string // part of the refusal; "" for none
		kind node.Kind
		ask  func(a *node.Allocation)
		is   func(n *node.Node)
	}{
		"without an instance": {"", 0, nil, nil},
		"of its own instance": {"", 0, nil, func(n *node.Node) { n.InstanceUUID = "a1" }},
		"takes over the rest": {"", 0, func(a *node.Allocation) { a.UUID, a.ResourceClass = "", "" },
			func(n *node.Node) { n.InstanceUUID = "a1" }},
		"in maintenance": {"", 0, nil, func(n *node.Node) { n.Maintenance = true }},
		"of another instance": {"Node n1 is associated with instance i1.", node.Conflict, nil,
			func(n *node.Node) { n.InstanceUUID = "i1" }},
		"not in use": {`Node must be in the "active" state, but the current state is "available"`, node.Invalid,
			nil, func(n *node.Node) { n.ProvisionState = node.Available }},
		"another class": {"Resource class bm does not match the requested resource class gpu", node.Invalid,
			func(a *node.Allocation) { a.ResourceClass = "gpu" }, nil},
		"a trait short": {"does not have the requested traits CUSTOM_C", node.Invalid,
			func(a *node.Allocation) { a.Traits = []string{"CUSTOM_A", "CUSTOM_C"} }, nil},
		"not a candidate": {"Candidate nodes must be empty or contain the target node, but got [n2]", node.Invalid,
			func(a *node.Allocation) { a.CandidateNodes = []string{"n2"} }, nil},
		"one of the candidates": {"", 0, func(a *node.Allocation) { a.CandidateNodes = []string{"n2", "n1"} }, nil},
		"everything that is bad": {"; Resource class", node.Invalid, func(a *node.Allocation) { a.ResourceClass = "gpu" },
			func(n *node.Node) { n.ProvisionState = node.Error }},
	} {
		a, n := wish(), suitable("n1")
		n.ProvisionState = node.Active
		if c.ask != nil {
			c.ask(&a)
		}
		if c.is != nil {
			c.is(&n)
		}
		got, err := Backfill(a, n)
		var r *node.Refusal
		switch {
		case c.want == "" && (err != nil || got.UUID != "a1" || got.ResourceClass != "bm"):
			t.Errorf("%s: %+v, %v", name, got, err)
		case c.want != "" && (!errors.As(err, &r) || r.Kind != c.kind || !strings.Contains(r.Reason, c.want)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestTearDownDropsTheAllocation: once the machine is off, in the same change.
func TestTearDownDropsTheAllocation(t *testing.T) {
	n := suitable("n1")
	n.ProvisionState, n.Driver, n.Interfaces = node.Active, "fake-hardware", map[string]string{"deploy": "direct"}
	n.InstanceUUID, n.AllocationUUID = "a1", "a1"
	settings := DefaultSettings()
	c, err := Decide(n, Facts{Settings: settings}, Request{Verb: node.Delete}, n.CreatedAt)
	if err != nil || c.DropAllocation != "" || c.Save.AllocationUUID != "a1" || len(c.Effects) != 1 {
		t.Fatalf("asked for: %+v, %v", c, err)
	}
	c, err = Decide(*c.Save, Facts{Settings: settings, EffectPending: true}, Outcome{Effect: c.Effects[0]}, n.CreatedAt)
	if err != nil || c.DropAllocation != "a1" || c.Save.AllocationUUID != "" || c.Save.InstanceUUID != "" {
		t.Errorf("machine off: %+v, %v", c, err)
	}
	if !slices.ContainsFunc(c.Moves, func(m node.Transition) bool { return m.On == node.Clean }) {
		t.Errorf("moves: %v", c.Moves)
	}
}
