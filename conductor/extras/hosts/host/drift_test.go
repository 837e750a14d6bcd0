package host

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestDrift: a host with a node that was changed behind it asks for nothing, and is neither provisioned, ready nor
// healthy.
func TestDrift(t *testing.T) {
	torn := nodeIs(func(n *node.Node) { n.InstanceUUID, n.InstanceInfo = "", nil })
	theirs := nodeIs(func(n *node.Node) {
		n.InstanceUUID, n.InstanceInfo = "another", map[string]any{"image_source": "http://images/theirs"}
	})
	healthy := nodeIs(func(n *node.Node) { n.Health = "OK" })
	for name, tc := range map[string]struct {
		facts  Facts
		reason string // of the conditions; "" for a host that is well
		says   string
	}{
		"active":    {newFacts(hostapi.StateProvisioned, node.Active), "", ""},
		"in rescue": {newFacts(hostapi.StateProvisioned, node.Rescue), "", ""},
		"deleting": {newFacts(hostapi.StateProvisioned, node.Deleting), WorkloadLost,
			`node default~a is "deleting": its disk does not hold the workload`},
		"available":  {newFacts(hostapi.StateProvisioned, node.Available, torn), WorkloadLost, "ferrite host reprovision a"},
		"manageable": {newFacts(hostapi.StateProvisioned, node.Manageable, torn), WorkloadLost, "may not hold"},
		"rebuilt": {newFacts(hostapi.StateProvisioned, node.Active, nodeIs(func(n *node.Node) {
			n.InstanceInfo["image_source"] = "http://images/other"
		})), WorkloadLost, "its image is http://images/other"},
		"external, available": {newFacts(hostapi.StateExternallyProvisioned, node.Available), WorkloadLost,
			"ferrite node manage default~a, then ferrite node adopt default~a"},
		"deployed by another": {newFacts(hostapi.StateAvailable, node.Active, theirs), ForeignWorkload,
			"to keep it, set spec.externallyProvisioned; to erase it: ferrite node undeploy default~a --force"},
		"deployed by another before we did": {newFacts(hostapi.StateProvisioning, node.Active, theirs), ForeignWorkload,
			"to erase it: ferrite node undeploy default~a --force"},
	} {
		t.Run(name, func(t *testing.T) {
			healthy(&tc.facts)
			d := made(t, tc.facts)
			st := d.Host.Status
			if tc.reason == "" {
				if st.ErrorType != "" {
					t.Errorf("the host says %s", st.ErrorMessage)
				}
				return
			}
			if d.Action != nil || st.ErrorType != hostapi.ProvisionedRegistrationError || st.ErrorCount != 1 ||
				st.OperationalStatus != hostapi.StatusError || !strings.Contains(st.ErrorMessage, tc.says) {
				t.Errorf("%#v, %+v", d.Action, st)
			}
			for _, c := range st.Conditions {
				switch c.Type {
				case hostapi.ConditionProvisioned, hostapi.ConditionAvailable, hostapi.ConditionHealthy:
					if c.Status != hostapi.False || c.Reason != tc.reason {
						t.Errorf("%s is %s, %s", c.Type, c.Status, c.Reason)
					}
				case hostapi.ConditionReady:
					if c.Status != hostapi.False || c.Reason != IsError {
						t.Errorf("%s is %s, %s", c.Type, c.Status, c.Reason)
					}
				default:
				}
			}
			tc.facts.Host = d.Host // a second look changes nothing
			if again := made(t, tc.facts); again.Host.Status.ErrorCount != 1 || len(again.Events) > 0 {
				t.Errorf("the second look: %+v, %v", again.Host.Status, again.Events)
			}
		})
	}
}

// TestReprovision: the annotation is removed from any host, and erases no host that is well.
func TestReprovision(t *testing.T) {
	for _, tc := range []struct {
		is   node.State
		want hostapi.State
	}{{node.Active, hostapi.StateProvisioned}, {node.Available, hostapi.StateDeprovisioning}} {
		d := made(t, newFacts(hostapi.StateProvisioned, tc.is, annotate(hostapi.AnnotationReprovision, "")))
		_, there := d.Host.Annotations[hostapi.AnnotationReprovision]
		if d.Host.Status.Provisioning.State != tc.want || there || d.Host.Status.ErrorType != "" {
			t.Errorf("%s: %+v, annotation %v", tc.is, d.Host.Status, there)
		}
	}
}
