package host

import (
	"testing"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestHostGoal: where a document has its host end, and whether a host that is in
// that state is as the document says.
func TestHostGoal(t *testing.T) {
	bmc := hostapi.BMC{Address: "ipmi://10.0.0.1", CredentialsName: "bmc"}
	image, step := &hostapi.Image{URL: "http://images/new"}, &hostapi.CustomDeploy{Method: "install"}
	provisioned := hostapi.Provisioning{State: hostapi.StateProvisioned}
	for _, c := range []struct {
		name string
		spec hostapi.HostSpec
		now  hostapi.Provisioning
		on   bool
		goal hostapi.State
		good bool
	}{
		{"no BMC", hostapi.HostSpec{Online: true}, hostapi.Provisioning{State: hostapi.StateUnmanaged}, false,
			hostapi.StateUnmanaged, true},
		{"nothing to run", hostapi.HostSpec{BMC: bmc, Online: true}, hostapi.Provisioning{State: hostapi.StateAvailable},
			false, hostapi.StateAvailable, true},
		{"an image, but off", hostapi.HostSpec{BMC: bmc, Image: image}, hostapi.Provisioning{State: hostapi.StateAvailable},
			false, hostapi.StateAvailable, true},
		{"its image, to be on", hostapi.HostSpec{BMC: bmc, Image: image, Online: true},
			hostapi.Provisioning{State: hostapi.StateProvisioned, Image: image}, true, hostapi.StateProvisioned, true},
		{"its image, still off", hostapi.HostSpec{BMC: bmc, Image: image, Online: true},
			hostapi.Provisioning{State: hostapi.StateProvisioned, Image: image}, false, hostapi.StateProvisioned, false},
		{"its image, switched off", hostapi.HostSpec{BMC: bmc, Image: image},
			hostapi.Provisioning{State: hostapi.StateProvisioned, Image: image}, false, hostapi.StateProvisioned, true},
		{"no image yet", hostapi.HostSpec{BMC: bmc, Image: image, Online: true}, provisioned, true,
			hostapi.StateProvisioned, false},
		{"its deploy step", hostapi.HostSpec{BMC: bmc, CustomDeploy: step, Online: true},
			hostapi.Provisioning{State: hostapi.StateProvisioned, CustomDeploy: step}, true, hostapi.StateProvisioned, true},
		{"another deploy step", hostapi.HostSpec{BMC: bmc, CustomDeploy: step, Online: true},
			hostapi.Provisioning{State: hostapi.StateProvisioned, CustomDeploy: &hostapi.CustomDeploy{Method: "other"}}, true,
			hostapi.StateProvisioned, false},
		{"by other means, still on", hostapi.HostSpec{BMC: bmc, ExternallyProvisioned: true},
			hostapi.Provisioning{State: hostapi.StateExternallyProvisioned}, true, hostapi.StateExternallyProvisioned, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := awaited{Host: hostapi.Host{Spec: c.spec, Status: hostapi.HostStatus{Provisioning: c.now}}}
			if got := a.goal(); got != c.goal {
				t.Errorf("it is to be %q, want %q", got, c.goal)
			}
			if got := a.asSpecified(hostapi.HostStatus{Provisioning: c.now, PoweredOn: c.on}); got != c.good {
				t.Errorf("as specified: %v, want %v", got, c.good)
			}
		})
	}
}

// TestHostThere: the effect of annotations on a wait for a host that otherwise matches its document.
func TestHostThere(t *testing.T) {
	for _, c := range []struct {
		name       string
		annotation string
		status     hostapi.OperationalStatus
		state      hostapi.State
		there      bool
		wrong      bool
	}{
		{"as it is to be", "", hostapi.StatusOK, hostapi.StateAvailable, true, false},
		{"to be rebooted", hostapi.AnnotationReboot, hostapi.StatusOK, hostapi.StateAvailable, false, false},
		{"to be rebooted by nobody", hostapi.AnnotationReboot, hostapi.StatusDiscovered, hostapi.StateUnmanaged, true, false},
		{"detached", hostapi.AnnotationDetached, hostapi.StatusDetached, hostapi.StateAvailable, false, true},
		{"to be taken back", "", hostapi.StatusDetached, hostapi.StateAvailable, false, false},
		{"paused", hostapi.AnnotationPaused, hostapi.StatusOK, hostapi.StateAvailable, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hostapi.Host{
				Status: hostapi.HostStatus{OperationalStatus: c.status, Provisioning: hostapi.Provisioning{State: c.state}},
			}
			if c.annotation != "" {
				h.Annotations = map[string]string{c.annotation: ""}
			}
			there, err := awaited{Host: h}.there(h, c.state)
			if there != c.there || (err != nil) != c.wrong {
				t.Errorf("there: %v, and %v", there, err)
			}
		})
	}
}
