package host

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestGuardedRequests: a request that destroys the state that a host documents is refused, with a way to do it by the
// host. Each verb of the table of nodes is here, so that a new verb needs a decision.
func TestGuardedRequests(t *testing.T) {
	steps := func(all ...string) (list []node.Step) {
		for _, s := range all {
			kind, name, _ := strings.Cut(s, ".")
			list = append(list, node.Step{Interface: kind, Step: name})
		}
		return list
	}
	book := func(step string) *node.Runbook {
		return &node.Runbook{Steps: []node.RunbookStep{{Step: steps(step)[0]}}}
	}
	cases := []struct {
		request plan.Request
		way     string // "" for a request that is not refused
	}{
		{plan.Request{Verb: node.Delete}, "remove spec.image"},
		{plan.Request{Verb: node.Deploy}, "set spec.image"},
		{plan.Request{Verb: node.Rebuild}, "set spec.image"},
		{plan.Request{Verb: node.Provide}, "remove spec.image"},
		{plan.Request{Verb: node.Clean, CleanSteps: steps("bios.apply_configuration")}, "remove spec.image"},
		{plan.Request{Verb: plan.Forget}, "ferrite host delete a -n default"},
		{plan.Request{Verb: node.Service, ServiceSteps: steps("bios.apply_configuration", "deploy.erase_devices")},
			"set spec.image"},
		{plan.Request{Verb: node.Service, Runbook: book("raid.delete_configuration")}, "set spec.image"},
		{plan.Request{Verb: node.Service, ServiceSteps: steps("bios.apply_configuration")}, ""},
		{plan.Request{Verb: node.Service, Runbook: book("firmware.update")}, ""},
		{plan.Request{Verb: node.Manage}, ""},
		{plan.Request{Verb: node.Inspect}, ""},
		{plan.Request{Verb: node.Adopt}, ""},
		{plan.Request{Verb: node.RescueIt}, ""},
		{plan.Request{Verb: node.Unrescue}, ""},
		{plan.Request{Verb: node.Abort}, ""},
		{plan.Request{Verb: node.Unhold}, ""},
	}
	decided := map[node.Event]bool{}
	for _, tc := range cases {
		decided[tc.request.Verb] = true
		facts := newFacts(hostapi.StateProvisioned, node.Active)
		err := RefuseUnforced(facts.Host, *facts.Node, tc.request)
		switch {
		case tc.way == "" && err != nil:
			t.Errorf("%s: %v", tc.request.Verb, err)
		case tc.way != "" && (err == nil || !strings.Contains(err.Error(), tc.way) ||
			!strings.Contains(err.Error(), "BareMetalHost default/a (provisioned)") ||
			!strings.Contains(err.Error(), "X-Ferrite-Force: true")):
			t.Errorf("%s: refused with %v, want %q", tc.request.Verb, err, tc.way)
		}
		facts.Host.Status.OperationalStatus = hostapi.StatusDetached
		if err := RefuseUnforced(facts.Host, *facts.Node, tc.request); err != nil {
			t.Errorf("%s of a detached host: %v", tc.request.Verb, err)
		}
	}
	for _, row := range node.Table {
		if row.By == node.ByRequest && !decided[row.On] {
			t.Errorf("nobody has decided whether the node of a host refuses %s", row.On)
		}
	}
}
