package plan_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const aSystem, swappedSystem = "4c4c4544-0043-4a10-8052-b4c04f4d3432", "44454c4c-4300-104a-8052-b4c04f4d3432"

// TestSameSystem: a node is not managed while another node is its machine, except with an operator's word, and the
// reason names only a node that all readers of it may see.
func TestSameSystem(t *testing.T) {
	known := func(edit func(n *node.Node)) node.Node {
		n := node.Node{UUID: "other", Name: "metal-1", ProvisionState: node.Active,
			DriverInternalInfo: map[string]any{"system_uuid": swappedSystem}}
		edit(&n)
		return n
	}
	same := func(*node.Node) {}
	for name, tc := range map[string]struct {
		own   func(n *node.Node)
		other node.Node
		want  string // of the reason; "" for taken
	}{
		"another node":         {same, known(same), "is that of node metal-1 (other) too"},
		"one without a name":   {same, known(func(n *node.Node) { n.Name = "" }), "is that of node other too"},
		"the node itself":      {same, known(func(n *node.Node) { n.UUID = "n" }), ""},
		"forced":               {func(n *node.Node) { n.SharesMachine = true }, known(same), ""},
		"the other is forced":  {same, known(func(n *node.Node) { n.SharesMachine = true }), ""},
		"a child of the other": {func(n *node.Node) { n.ParentNode = "metal-1" }, known(same), ""},
		"the other's parent":   {same, known(func(n *node.Node) { n.ParentNode = "n" }), ""},
		"the other was discovered": {same, known(func(n *node.Node) {
			n.ProvisionState, n.DriverInternalInfo["discovered_at"] = node.Enroll, "2026-11-20T12:00:00Z"
		}), ""},
		"a project's, the operator's": {func(n *node.Node) { n.Owner = "p" }, known(same), "is that of another node too"},
		"a project's, its own": {func(n *node.Node) { n.Owner = "p" }, known(func(n *node.Node) { n.Lessee = "p" }),
			"is that of node metal-1 (other) too"},
		"lent to another project": {func(n *node.Node) { n.Owner, n.Lessee = "p", "q" },
			known(func(n *node.Node) { n.Owner = "p" }), "is that of another node too"},
	} {
		t.Run(name, func(t *testing.T) {
			n := node.Node{UUID: "n", Driver: "ipmi", ProvisionState: node.Enroll,
				DriverInternalInfo: map[string]any{"system_uuid": aSystem}}
			tc.own(&n)
			ev := plan.Request{Verb: node.Manage}
			if need := ev.Needs(n); need.System != aSystem {
				t.Fatalf("it needs the nodes of %q", need.System)
			}
			_, err := plan.Decide(n, plan.Facts{SameSystem: []node.Node{tc.other}}, ev, time.Now())
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (!errors.Is(err, node.ErrConflict) || !strings.Contains(err.Error(), tc.want) ||
				!strings.Contains(err.Error(), "ferrite node set n --driver-info ipmi_address=ADDRESS --force")):
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestNeedsSystem: only events of BMCs and ramdisks name a machine, and placeholders name none.
func TestNeedsSystem(t *testing.T) {
	outcome := func(effect, result, failure string) plan.Event {
		return plan.Outcome{Effect: node.Effect{Name: effect}, Result: []byte(result), Failure: failure}
	}
	upper := strings.ToUpper(aSystem)
	for _, tc := range []struct {
		event plan.Event
		want  string
	}{
		{outcome("management.validate", `{"system_uuid":"`+upper+`"}`, ""), aSystem},
		{outcome("management.validate", `{"boot_mode":"uefi"}`, ""), ""},
		{outcome("management.validate", `{"system_uuid":"`+aSystem+`"}`, "broken"), ""},
		{outcome("inspect.read_system", `{"UUID":"`+aSystem+`"}`, ""), aSystem},
		{outcome("inspect.read_ports", `{"UUID":"`+aSystem+`"}`, ""), aSystem},
		{outcome("inspect.read_system", `{"UUID":"03000200-0400-0500-0006-000700080009"}`, ""), ""},
		{outcome("inspect.read_system", `[`, ""), ""},
		{outcome("power.validate", `{"system_uuid":"`+aSystem+`"}`, ""), ""},
		{plan.Inspected{Data: agentapi.Inspection{SystemUUID: upper}}, aSystem},
		{plan.Inspected{Data: agentapi.Inspection{SystemUUID: "Not Settable"}}, ""},
		{plan.Request{Verb: node.Provide}, ""},
	} {
		if got := tc.event.Needs(node.Node{}).System; got != tc.want {
			t.Errorf("%+v names %q, want %q", tc.event, got, tc.want)
		}
	}
}
