package host

import (
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

var testNow = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const testUID = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"

// edit is one case's change of a healthy situation.
type edit func(*Facts)

// newFacts is a host in a state, registered and healthy, with an aligned node in a state; "" for no node.
func newFacts(state hostapi.State, is node.State, edits ...edit) Facts {
	sda := &hostapi.RootDeviceHints{DeviceName: "/dev/sda"}
	reference := &hostapi.SecretReference{Name: "bmc", Namespace: "default"}
	h := hostapi.Host{
		ObjectMeta: hostapi.ObjectMeta{
			Name: "a", Namespace: "default", UID: testUID, Generation: 1, Finalizers: []string{hostapi.Finalizer},
			Annotations: map[string]string{},
		},
		Spec: hostapi.HostSpec{
			BMC:            hostapi.BMC{Address: "redfish://10.0.0.1/redfish/v1/Systems/1", CredentialsName: "bmc"},
			BootMACAddress: "52:54:00:00:00:01", Online: true,
		},
		Status: hostapi.HostStatus{
			OperationalStatus: hostapi.StatusOK, HardwareProfile: translate.UnknownProfile, PoweredOn: true,
			GoodCredentials:  hostapi.Credentials{Reference: reference, Version: "7"},
			TriedCredentials: hostapi.Credentials{Reference: reference, Version: "7"},
			Provisioning:     hostapi.Provisioning{State: state, ID: "n1", BootMode: hostapi.UEFI, RootDeviceHints: sda},
		},
	}
	switch state {
	case hostapi.StateNone, hostapi.StateUnmanaged:
		h.Status = hostapi.HostStatus{
			OperationalStatus: hostapi.StatusDiscovered, Provisioning: hostapi.Provisioning{State: state},
		}
		h.Spec.BMC = hostapi.BMC{}
	case hostapi.StateProvisioned, hostapi.StateDeprovisioning:
		h.Spec.Image = image("http://images/a.qcow2")
		h.Status.Provisioning.Image = h.Spec.Image
	case hostapi.StateProvisioning:
		h.Spec.Image = image("http://images/a.qcow2")
	case hostapi.StateExternallyProvisioned:
		h.Spec.ExternallyProvisioned = true
	default:
	}
	facts := Facts{
		Host: h, Now: testNow, ProvisioningLimit: DefaultProvisioningLimit,
		Secrets: map[string]hostapi.Secret{"bmc": {
			ObjectMeta: hostapi.ObjectMeta{Name: "bmc", Namespace: "default", ResourceVersion: "7"},
			Data:       map[string][]byte{"username": []byte("admin\n"), "password": []byte("secret")},
		}},
		Ports: []node.Port{{NodeUUID: "n1", Address: "52:54:00:00:00:01", PXEEnabled: true}},
	}
	if is != "" {
		facts.Node = aligned(facts, is)
	}
	for _, e := range edits {
		e(&facts)
	}
	return facts
}

// aligned is the node that a host asks for, in a state.
func aligned(facts Facts, is node.State) *node.Node {
	d := begin(facts)
	l, _ := d.source().Credentials()
	a, _ := d.accessToBMC()
	n := d.source().NewNode(translate.NodeSpec{Access: a, Login: l})
	n.UUID, n.ProvisionState, n.TargetProvisionState, n.PowerState, n.Revision = "n1", is, node.States[is].Target,
		node.PowerOn, 5
	found := testNow.Add(-time.Hour)
	n.InspectionFinishedAt = &found
	return &n
}

func image(url string) *hostapi.Image {
	return &hostapi.Image{URL: url, Checksum: strings.Repeat("0", 64), ChecksumType: hostapi.SHA256}
}

// The edits that cases are made of.

func spec(change func(*hostapi.HostSpec)) edit {
	return func(facts *Facts) { change(&facts.Host.Spec) }
}

func status(change func(*hostapi.HostStatus)) edit {
	return func(facts *Facts) { change(&facts.Host.Status) }
}

func nodeIs(change func(*node.Node)) edit {
	return func(facts *Facts) { change(facts.Node) }
}

func annotate(name, value string) edit {
	return func(facts *Facts) { facts.Host.Annotations[name] = value }
}

func deleted(facts *Facts) {
	at := hostapi.At(testNow)
	facts.Host.DeletionTimestamp = &at
}

func noSecret(facts *Facts) { facts.Secrets = nil }
func noNode(facts *Facts)   { facts.Node, facts.Ports = nil, nil }

// failing is a host that has failed count times, the last time so long ago.
func failing(t hostapi.ErrorType, count int, ago time.Duration) edit {
	return status(func(st *hostapi.HostStatus) {
		at := hostapi.At(testNow.Add(-ago))
		st.OperationalStatus, st.ErrorType, st.ErrorMessage, st.ErrorCount, st.LastUpdated = hostapi.StatusError, t,
			"it failed", count, &at
	})
}

// changedElsewhere: something that an error may wait for has changed just now.
func changedElsewhere(facts *Facts) { facts.ChangedAt = facts.Now }

func lastError(text string) edit { return nodeIs(func(n *node.Node) { n.LastError = text }) }

func imageIs(url string) edit {
	return spec(func(s *hostapi.HostSpec) {
		s.Image = nil
		if url != "" {
			s.Image = image(url)
		}
	})
}

func full(facts *Facts) { facts.BusyNodes = facts.ProvisioningLimit }

// made is a decision without a fault of ours.
func made(t *testing.T, facts Facts) Decision {
	t.Helper()
	d := Decide(facts)
	if d.Err != nil {
		t.Fatal(d.Err)
	}
	return d
}
