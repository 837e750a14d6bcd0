package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// A host with a provisioned status, but without a recorded image, runs the image that its document names: to clean it
// would lose a workload.
func TestProvisionedWithNobodyKnowsWhat(t *testing.T) {
	step := &hostapi.CustomDeploy{Method: "install"}
	for name, edits := range map[string][]edit{
		"an image":      {imageIs("http://images/a.qcow2")},
		"a deploy step": {imageIs(""), spec(func(s *hostapi.HostSpec) { s.CustomDeploy = step })},
	} {
		t.Run(name, func(t *testing.T) {
			facts := newFacts(hostapi.StateProvisioned, node.Active,
				append(edits, status(func(st *hostapi.HostStatus) { st.Provisioning.Image = nil }))...)
			d := made(t, facts)
			is := d.Host.Status.Provisioning
			if is.State != hostapi.StateProvisioned || d.Action != nil {
				t.Errorf("the host is %s, and %T done", is.State, d.Action)
			}
			if diff := cmp.Diff(facts.Host.Spec.Image, is.Image) + cmp.Diff(facts.Host.Spec.CustomDeploy,
				is.CustomDeploy); diff != "" {
				t.Errorf("what it runs (-want +got):\n%s", diff)
			}
		})
	}
}
