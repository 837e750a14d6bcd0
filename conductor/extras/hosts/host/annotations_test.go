package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// An annotation has its effect once.
func TestAnnotationsGo(t *testing.T) {
	for name, c := range map[string]struct {
		facts Facts
		want  map[string]string
	}{
		"reboot when off": {
			newFacts(hostapi.StateProvisioned, node.Active, annotate(hostapi.AnnotationReboot, ""),
				annotate(hostapi.AnnotationReboot+"/me", ""), poweredOff), map[string]string{hostapi.AnnotationReboot + "/me": ""},
		},
		"reboot never off": {
			newFacts(hostapi.StateProvisioned, node.Active, annotate(hostapi.AnnotationReboot, ""), neverOff),
			map[string]string{},
		},
		"reboot of provisioning": {
			newFacts(hostapi.StateProvisioning, node.DeployWait, annotate(hostapi.AnnotationReboot, "")), map[string]string{},
		},
		"inspect begun": {
			newFacts(hostapi.StateInspecting, node.Manageable, annotate(hostapi.AnnotationInspect, "")), map[string]string{},
		},
		"inspect disabled": {
			newFacts(hostapi.StateAvailable, node.Manageable, annotate(hostapi.AnnotationInspect, hostapi.InspectDisabled)),
			map[string]string{hostapi.AnnotationInspect: hostapi.InspectDisabled},
		},
		"inspect delayed": {
			newFacts(hostapi.StateAvailable, node.Manageable, annotate(hostapi.AnnotationInspect, ""), full),
			map[string]string{hostapi.AnnotationInspect: ""},
		},
		"status": {newFacts(hostapi.StateProvisioned, node.Active, annotate(hostapi.AnnotationStatus, "{}")),
			map[string]string{}},
		"hardwaredetails": {
			newFacts(hostapi.StateProvisioned, node.Active, annotate(hostapi.AnnotationHardware, "{}")), map[string]string{},
		},
		"paused": {
			newFacts(hostapi.StateProvisioned, node.Active, annotate(hostapi.AnnotationPaused, ""),
				annotate(hostapi.AnnotationStatus, "{}")),
			map[string]string{hostapi.AnnotationPaused: "", hostapi.AnnotationStatus: "{}"},
		},
	} {
		if diff := cmp.Diff(c.want, made(t, c.facts).Host.Annotations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A host that comes with a status goes on from there.
func TestStatusIsTakenOver(t *testing.T) {
	brought := `{"operationalStatus":"OK","hardware":{"hostname":"old"},"provisioning":{"state":"provisioned","ID":"gone","image":{"url":"http://images/a.qcow2"}},"poweredOn":true,"hardwareProfile":"unknown"}`
	facts := newFacts(hostapi.StateProvisioned, "", noNode, annotate(hostapi.AnnotationStatus, brought))
	facts.Host.Status, facts.Hardware = hostapi.HostStatus{},
		&hostapi.Hardware{Hostname: "new", NIC: []hostapi.NIC{{MAC: "52:54:00:00:00:02"}}}
	d := made(t, facts)
	if d.Action != nil || d.RequeueAt != testNow {
		t.Errorf("%s before the status is saved by which the node is found, again at %s", spoken(d), d.RequeueAt)
	}
	facts.Host = d.Host
	d = made(t, facts)
	st := d.Host.Status
	if st.Provisioning.State != hostapi.StateProvisioned || st.Hardware.Hostname != "new" || spoken(d) != "CreateNode" {
		t.Errorf("%+v: %s", st, spoken(d))
	}
	if n := d.Action.(CreateNode).Node; n.InstanceUUID != testUID ||
		n.InstanceInfo["image_source"] != "http://images/a.qcow2" {
		t.Errorf("the node to adopt has no instance: %+v", n)
	}
	facts.ProvisioningLimit, facts.BusyNodes = 1, 1
	facts.Host.Spec.Image = nil // to be deprovisioned, and delayed
	facts.Node = aligned(newFacts(hostapi.StateProvisioned, ""), node.Active)
	facts.Ports = append(facts.Ports, node.Port{Address: "52:54:00:00:00:01"}, node.Port{Address: "52:54:00:00:00:02"})
	if d := made(t, facts); d.Host.Status.Provisioning.State != hostapi.StateProvisioned ||
		d.Host.Annotations[hostapi.AnnotationStatus] != "" {
		t.Errorf("what was taken over is lost with the annotation: %s, %+v", spoken(d), d.Host.Status)
	}
}

// A status that makes no sense is ignored: in a state that the table lacks, a host could neither go on nor be deleted.
func TestStatusWithoutSense(t *testing.T) {
	for _, brought := range []string{"{", `{"provisioning":{"state":"asleep"}}`, `{"operationalStatus":"fine"}`,
		`{"errorCount":-1}`} {
		facts := newFacts(hostapi.StateNone, "", annotate(hostapi.AnnotationStatus, brought))
		facts.Host.Status = hostapi.HostStatus{}
		d := made(t, facts)
		if st := d.Host.Status; st.Provisioning.State != hostapi.StateUnmanaged || len(d.Host.Annotations) > 0 {
			t.Errorf("%s: the host is %q with %v", brought, st.Provisioning.State, d.Host.Annotations)
		}
	}
}

// Hardware details of a document count where no inspection was made, or is to be made.
func TestHardwareDetails(t *testing.T) {
	mine, known := `{"hostname":"mine"}`, &hostapi.Hardware{Hostname: "known"}
	for _, c := range []struct {
		with []edit
		want *hostapi.Hardware
	}{
		{[]edit{annotate(hostapi.AnnotationHardware, mine)}, &hostapi.Hardware{Hostname: "mine"}},
		{[]edit{annotate(hostapi.AnnotationHardware, `{"hostnam":"mine"}`)}, nil},
		{[]edit{annotate(hostapi.AnnotationHardware, mine), status(func(st *hostapi.HostStatus) { st.Hardware = known })},
			known},
		{[]edit{annotate(hostapi.AnnotationHardware, mine), status(func(st *hostapi.HostStatus) { st.Hardware = known }),
			annotate(hostapi.AnnotationInspect, hostapi.InspectDisabled)}, &hostapi.Hardware{Hostname: "mine"}},
		{[]edit{annotate(hostapi.AnnotationHardware, mine), func(facts *Facts) { facts.Hardware = known }}, known},
	} {
		if diff := cmp.Diff(c.want,
			made(t, newFacts(hostapi.StateAvailable, node.Manageable, c.with...)).Host.Status.Hardware); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
