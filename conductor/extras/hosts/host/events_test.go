package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func TestEvents(t *testing.T) {
	stranger := func(facts *Facts) {
		facts.Host.Status.GoodCredentials, facts.Host.Status.Provisioning.ID = hostapi.Credentials{}, ""
	}
	blind := spec(func(s *hostapi.HostSpec) { s.InspectionMode = hostapi.InspectionDisabled })
	for name, tc := range map[string]struct {
		facts Facts
		want  []string
	}{
		"at rest": {newFacts(hostapi.StateProvisioned, node.Active), nil},
		"without BMC": {
			newFacts(hostapi.StateNone, ""), []string{"Normal Discovered: there is a host, and nothing is said of its BMC"},
		},
		"registered": {newFacts(hostapi.StateRegistering, node.Manageable, stranger), []string{
			"Normal Registered: the machine is node n1", "Normal BMCAccessValidated: the BMC accepted the credentials",
			"Normal InspectionStarted: inspection started",
		}},
		"not looked at": {newFacts(hostapi.StateRegistering, node.Manageable, blind),
			[]string{"Normal InspectionSkipped: spec.inspectionMode is disabled"}},
		"looked at": {newFacts(hostapi.StateInspecting, node.Manageable), []string{
			"Normal InspectionComplete: the inspection is done",
		}},
		"prepared": {
			newFacts(hostapi.StatePreparing, node.Manageable),
			[]string{"Normal PreparationComplete: the machine's settings are as desired"},
		},
		"an image": {newFacts(hostapi.StateAvailable, node.Available, imageIs("http://images/a.qcow2")),
			[]string{"Normal ProvisioningStarted: the machine is provisioned"}},
		"provisioned": {
			newFacts(hostapi.StateProvisioning, node.Active),
			[]string{"Normal ProvisioningComplete: the machine runs http://images/a.qcow2"},
		},
		"with a token": {newFacts(hostapi.StateProvisioning, node.Active,
			imageIs("http://me:hunter2@images/a?X-Amz-Signature=hunter2"), nodeIs(func(n *node.Node) {
				n.InstanceInfo["image_source"] = "http://me:hunter2@images/a?X-Amz-Signature=hunter2"
			})), []string{
			"Normal ProvisioningComplete: the machine runs http://******@images/a?X-Amz-Signature=******",
		}},
		"no image": {newFacts(hostapi.StateProvisioned, node.Active, imageIs("")),
			[]string{"Normal DeprovisioningStarted: the workload is being removed"}},
		"deprovisioned": {newFacts(hostapi.StateDeprovisioning, node.Available, imageIs("")),
			[]string{"Normal DeprovisioningComplete: the workload was removed"}},
		"to be deleted": {newFacts(hostapi.StateDeprovisioning, node.Available, deleted),
			[]string{"Normal DeprovisioningComplete: the workload was removed"}},
		"found off": {
			newFacts(hostapi.StateProvisioned, node.Active, nodeIs(func(n *node.Node) { n.PowerState = node.PowerOff })),
			[]string{"Normal PowerOff: the machine is off"},
		},
		"found on": {
			newFacts(hostapi.StateProvisioned, node.Active, status(func(st *hostapi.HostStatus) { st.PoweredOn = false })),
			[]string{"Normal PowerOn: the machine is on"},
		},
		"refused": {newFacts(hostapi.StateRegistering, node.Enroll, lastError("wrong password")),
			[]string{"Warning RegistrationError: wrong password"}},
		"refused once more": {newFacts(hostapi.StateProvisioned, node.Active, noSecret,
			failing(hostapi.RegistrationError, 1, time.Hour)), []string{
			"Warning RegistrationError: the secret default/bmc of spec.bmc.credentialsName does not exist: create it with " +
				"username and password",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range Decide(tc.facts).Events {
				got = append(got, e.Type+" "+e.Reason+": "+e.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
