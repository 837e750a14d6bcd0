package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestAlign: an operator's settings in a node stay, and the host's are added.
func TestAlign(t *testing.T) {
	facts := newFacts(hostapi.StateAvailable, node.Manageable, func(facts *Facts) {
		facts.Node.DriverInfo["deploy_kernel"], facts.Node.DriverInfo["redfish_verify_ca"] = "http://k", false
		facts.Node.Properties["capabilities"] = "cpu_vt:true"
		facts.Host.Spec.Architecture, facts.Host.Spec.AutomatedCleaningMode = "aarch64", hostapi.CleaningDisabled
		facts.Host.Spec.PreprovisioningNetworkDataName = "n"
		facts.Secrets["n"] = hostapi.Secret{Data: map[string][]byte{"networkData": []byte("links: []")}}
	})
	u, ok := made(t, facts).Action.(UpdateNode)
	if !ok {
		t.Fatal("nothing is edited")
	}
	no := false
	want := facts.Node.Clone()
	delete(want.DriverInfo, "redfish_verify_ca")
	want.Properties = map[string]any{"capabilities": "cpu_vt:true,boot_mode:uefi", "cpu_arch": "aarch64"}
	want.AutomatedClean, want.NetworkData = &no, map[string]any{"links": []any{}}
	if diff := cmp.Diff(want, u.Node); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	is := facts.Node.Clone()
	is.Revision++
	if err := u.Apply(&is); err == nil {
		t.Error("an edit of an older node is made")
	}
	is.Revision--
	if err := u.Apply(&is); err != nil || is.NetworkData == nil {
		t.Errorf("the edit is not made: %v", err)
	}
}
