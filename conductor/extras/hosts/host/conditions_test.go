package host

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		facts Facts
		want  string
	}{
		"unmanaged": {
			newFacts(hostapi.StateUnmanaged, ""),
			"Manageable=False/NotManaged AvailableForProvisioning=False/NotAvailable Provisioned=False/NotProvisioned " +
				"Ready=False/NotProvisioned Progressing=False/NotProgressing Healthy=Unknown/Unknown",
		},
		"registering": {
			newFacts(hostapi.StateRegistering, node.Verifying),
			"Manageable=False/Registering AvailableForProvisioning=False/NotAvailable Provisioned=False/NotProvisioned " +
				"Ready=False/NotProvisioned Progressing=True/Registering Healthy=Unknown/Unknown",
		},
		"unregistered": {
			newFacts(hostapi.StateRegistering, "", noNode, noSecret),
			"Manageable=False/RegistrationFailed AvailableForProvisioning=False/NotAvailable Provisioned=False/NotProvisioned " +
				"Ready=False/Error Progressing=False/Error Healthy=Unknown/Unknown",
		},
		"wrong password since": {
			newFacts(hostapi.StateRegistering, node.Enroll, noSecret, nodeIs(func(n *node.Node) { n.Health = "OK" })),
			"Manageable=False/RegistrationFailed AvailableForProvisioning=False/NotAvailable Provisioned=False/NotProvisioned " +
				"Ready=False/Error Progressing=False/Error Healthy=Unknown/Unknown",
		},
		"inspecting": {
			newFacts(hostapi.StateInspecting, node.InspectWait),
			"Manageable=True/Manageable AvailableForProvisioning=False/NotAvailable Provisioned=False/NotProvisioned " +
				"Ready=False/NotProvisioned Progressing=True/Inspecting Healthy=Unknown/Unknown",
		},
		"available": {newFacts(hostapi.StateAvailable, node.Manageable, nodeIs(func(n *node.Node) { n.Health = "OK" })),
			"Manageable=True/Manageable AvailableForProvisioning=True/Available Provisioned=False/NotProvisioned " +
				"Ready=False/NotProvisioned Progressing=False/NotProgressing Healthy=True/Healthy"},
		"provisioned": {
			newFacts(hostapi.StateProvisioned, node.Active, nodeIs(func(n *node.Node) { n.Health = "Critical" })),
			"Manageable=True/Manageable AvailableForProvisioning=False/NotAvailable Provisioned=True/Provisioned " +
				"Ready=True/Provisioned Progressing=False/NotProgressing Healthy=False/CriticalError",
		},
		"no power": {
			newFacts(hostapi.StateProvisioned, node.Active,
				nodeIs(func(n *node.Node) { n.Fault, n.Health = "power failure", "Warning" })),
			"Manageable=False/PowerFailure AvailableForProvisioning=False/NotAvailable Provisioned=True/Provisioned " +
				"Ready=True/Provisioned Progressing=False/NotProgressing Healthy=False/Warning",
		},
		"detached": {newFacts(hostapi.StateProvisioned, "", noNode, annotate(hostapi.AnnotationDetached, "")),
			"Manageable=True/Manageable AvailableForProvisioning=False/NotAvailable Provisioned=True/Provisioned " +
				"Ready=False/Detached Progressing=False/Detached Healthy=Unknown/Unknown"},
	} {
		var got []string
		for _, is := range made(t, c.facts).Host.Status.Conditions {
			got = append(got, is.Type+"="+is.Status+"/"+is.Reason)
			if !is.LastTransitionTime.Equal(testNow) || is.ObservedGeneration != 1 {
				t.Errorf("%s: %s since %s, of generation %d", name, is.Type, is.LastTransitionTime, is.ObservedGeneration)
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
