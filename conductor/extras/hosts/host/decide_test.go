package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// spoken is a decision in a line: the request, or the error, or else the operational status.
func spoken(d Decision) string {
	st := d.Host.Status
	switch a := d.Action.(type) {
	case nil:
		if st.ErrorType != "" {
			return fmt.Sprintf("%s %d: %s", st.ErrorType, st.ErrorCount, st.ErrorMessage)
		}
		return string(st.OperationalStatus)
	case Provision:
		text := string(a.Request.Verb)
		for _, s := range slices.Concat(a.Request.CleanSteps, a.Request.DeploySteps, a.Request.ServiceSteps) {
			text += " " + s.String()
		}
		return text
	case SetPower:
		return strings.TrimSpace(fmt.Sprintf("%s %s", a.Target, map[bool]string{true: a.Timeout.String()}[a.Timeout > 0]) +
			map[bool]string{true: "once"}[a.Once])
	case SetMaintenance:
		return fmt.Sprintf("maintenance %v", a.On)
	case SetRAID:
		return fmt.Sprintf("raid %v", a.Config)
	case AttachMedium:
		return "attach " + a.Medium.Image
	case DetachMedia:
		return fmt.Sprintf("detach %v", a.Devices)
	case CreatePort:
		return fmt.Sprintf("port %s %v", a.Port.Address, a.Port.PXEEnabled)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", d.Action), "host.")
}

const (
	redfishRAID = `map[logical_disks:[map[raid_level:1 size_gb:MAX]]]`
	softRAID    = `map[logical_disks:[map[controller:software is_root_volume:true raid_level:1 size_gb:MAX]]]`
)

func hardwareRAID(s *hostapi.HostSpec) {
	s.RAID = &hostapi.RAID{HardwareRAIDVolumes: []hostapi.HardwareRAIDVolume{{Level: "1"}}}
}

func softwareRAID(s *hostapi.HostSpec) {
	s.RAID = &hostapi.RAID{SoftwareRAIDVolumes: []hostapi.SoftwareRAIDVolume{{Level: "1", RootVolume: true}}}
}

func maintenance(n *node.Node) { n.Maintenance = true }
func neverOff(facts *Facts)    { facts.Host.Spec.DisablePowerOff, facts.Node.DisablePowerOff = true, true }
func uninspected(n *node.Node) { n.InspectionFinishedAt = nil }
func poweredOff(facts *Facts) {
	facts.Node.PowerState, facts.Host.Status.PoweredOn = node.PowerOff, false
}
func offline(facts *Facts) { facts.Host.Spec.Online = false }
func ready(facts *Facts) {
	d := begin(*facts)
	a, _, _ := d.instance()
	facts.Node = nodeOf(a, facts.Node)
}
func clash(facts *Facts) {
	facts.Conflicts = []Conflict{{"the BMC address redfish://10.0.0.1", "default/b"}}
}
func enrolledByHand(facts *Facts) { facts.Node, facts.Ports, facts.NodeWithBMC = nil, nil, "mine" }
func portTaken(facts *Facts) {
	facts.Ports, facts.Node, facts.TakenAddresses = nil, nil, map[string]string{"52:54:00:00:00:01": "other"}
}
func freshSecret(facts *Facts) {
	x := facts.Secrets["bmc"]
	x.ResourceVersion = "8"
	facts.Secrets["bmc"] = x
}
func observedAt(g int64) edit {
	return status(func(st *hostapi.HostStatus) { st.Conditions = []hostapi.Condition{{ObservedGeneration: g}} })
}

// tried is a host between a failed try and the result of the next.
func tried(st *hostapi.HostStatus) { st.ErrorType, st.OperationalStatus = "", hostapi.StatusOK }

func delayed(st *hostapi.HostStatus) { st.OperationalStatus = hostapi.StatusDelayed }

const silence = `power change to "power off" failed: no answer`

// shuttingDown is a node with an operating system that was asked to shut down.
func shuttingDown(n *node.Node) {
	at := testNow.Add(-time.Minute)
	n.Chore, n.TargetPowerState, n.UpdatedAt = plan.ShutDown, node.PowerOff, &at
}

func softMarked(st *hostapi.HostStatus) { st.Provisioning.RootDeviceHints = nil }

func nodeOf(a Action, otherwise *node.Node) *node.Node {
	if u, ok := a.(UpdateNode); ok {
		return &u.Node
	}
	return otherwise
}

// TestDecisions has the decision in each state for each situation, one deviation at a time.
func TestDecisions(t *testing.T) {
	registering, inspecting, preparing, available := hostapi.StateRegistering, hostapi.StateInspecting,
		hostapi.StatePreparing, hostapi.StateAvailable
	provisioning, provisioned, external := hostapi.StateProvisioning, hostapi.StateProvisioned,
		hostapi.StateExternallyProvisioned
	deprovisioning, poweringOff, deleting := hostapi.StateDeprovisioning, hostapi.StatePoweringOffBeforeDelete,
		hostapi.StateDeleting
	for _, c := range []struct {
		state hostapi.State
		is    node.State
		with  []edit
		want  string
	}{
		{hostapi.StateUnmanaged, "", nil, "discovered"},

		{registering, "", []edit{noNode}, "CreateNode"},
		{registering, "", []edit{noNode, noSecret},
			"registration error 1: the secret default/bmc of spec.bmc.credentialsName does not exist: create it with username " +
				"and password"},
		{registering, "", []edit{noNode, func(facts *Facts) { delete(facts.Secrets["bmc"].Data, "password") }},
			"registration error 1: the secret default/bmc of spec.bmc.credentialsName has no password"},
		{registering, "", []edit{noNode, spec(func(s *hostapi.HostSpec) { s.BMC.CredentialsName = "" })},
			"registration error 1: spec.bmc.credentialsName is missing: name a secret with username and password"},
		{registering, "", []edit{noNode, clash},
			"registration error 1: the BMC address redfish://10.0.0.1 is that of host default/b already: correct " +
				"one of the two"},
		{registering, "", []edit{enrolledByHand},
			"registration error 1: the BMC address redfish://10.0.0.1/redfish/v1/Systems/1 is that of node mine already: call " +
				"that node default~a to have it taken over, or correct one of the two"},
		{registering, "", []edit{portTaken},
			"registration error 1: the MAC address 52:54:00:00:00:01 of spec.bootMACAddress is that of node other already"},
		{registering, node.Enroll, nil, "manage"},
		{registering, "", []edit{noNode, spec(func(s *hostapi.HostSpec) { s.BootMACAddress = "ff:ff:ff:ff:ff:ff" })},
			"CreateNode"},
		{registering, "", []edit{noNode, spec(func(s *hostapi.HostSpec) {
			s.BootMACAddress, s.InspectionMode = "00:00:00:00:00:00", hostapi.InspectionDisabled
		})}, "registration error 1: spec.bootMACAddress 00:00:00:00:00:00 is no address of a network interface: a host " +
			"that is not inspected needs it"},
		{registering, node.Enroll, []edit{func(facts *Facts) { facts.Ports = nil }}, "port 52:54:00:00:00:01 true"},
		{registering, node.Enroll, []edit{func(facts *Facts) { facts.Ports = nil },
			spec(func(s *hostapi.HostSpec) { s.BootMACAddress = "01:00:5e:00:00:01" })}, "manage"},
		{registering, node.Enroll, []edit{lastError("not allowed"), failing(hostapi.RegistrationError, 5, time.Minute),
			changedElsewhere}, "manage"},
		{registering, node.Enroll, []edit{lastError("no such user")}, "registration error 1: no such user"},
		{registering, node.Enroll, []edit{lastError("no such user"), failing(hostapi.RegistrationError, 1, time.Second)},
			"registration error 1: it failed"},
		{registering, node.Enroll, []edit{lastError("no such user"), failing(hostapi.RegistrationError, 1, 3*time.Minute)},
			"manage"},
		{registering, node.Enroll, []edit{lastError("no such user"), failing(hostapi.RegistrationError, 1, time.Second),
			freshSecret}, "manage"},
		{registering, node.Enroll, []edit{lastError("no such user"), failing(hostapi.RegistrationError, 1, time.Second),
			observedAt(0)}, "manage"},
		{registering, node.Enroll, []edit{func(facts *Facts) { facts.Secrets["bmc"].Data["password"] = []byte("other") }},
			"UpdateNode"},
		{registering, node.Verifying, []edit{failing(hostapi.RegistrationError, 1, 3*time.Minute)}, "OK"},
		{registering, node.Manageable, []edit{spec(func(s *hostapi.HostSpec) { s.HardwareProfile = "mine" }),
			status(func(st *hostapi.HostStatus) { st.HardwareProfile = "" })},
			`registration error 1: spec.hardwareProfile "mine" is unknown: it is one of dell, dell-raid, empty, libvirt, openstack, unknown; say the disk in spec.rootDeviceHints instead`},

		{inspecting, node.Available, nil, "manage"},
		{inspecting, node.Manageable, []edit{nodeIs(uninspected)}, "inspect"},
		{inspecting, node.Manageable,
			[]edit{nodeIs(uninspected), spec(func(s *hostapi.HostSpec) { s.InspectionMode = hostapi.InspectionFast })},
			"UpdateNode"},
		{inspecting, node.Manageable, []edit{annotate(hostapi.AnnotationInspect, "")}, "inspect"},
		{inspecting, node.Manageable, []edit{nodeIs(uninspected), full}, "delayed"},
		{inspecting, node.InspectWait, nil, "OK"},
		{inspecting, node.InspectWait, []edit{full}, "OK"},
		{inspecting, node.InspectWait, []edit{annotate(hostapi.AnnotationReboot, `{"force":true}`)}, "abort"},
		{inspecting, node.InspectWait, []edit{annotate(hostapi.AnnotationReboot, "")}, "OK"},
		{inspecting, node.InspectFailed, []edit{lastError("no call")}, "inspection error 1: no call"},
		{inspecting, node.InspectFailed, []edit{lastError("no call"), failing(hostapi.InspectionError, 1, 3*time.Minute)},
			"inspect"},
		{inspecting, node.InspectFailed, []edit{lastError("no call"), failing(hostapi.InspectionError, 1, 3*time.Minute),
			spec(func(s *hostapi.HostSpec) { s.InspectionMode = hostapi.InspectionFast })}, "manage"},
		{inspecting, node.InspectFailed, []edit{lastError("Inspection was aborted")}, "inspect"},
		{inspecting, node.Active, nil,
			`inspection error 1: node n1 is "active", from which a host that is "inspecting" cannot continue: bring it to "manageable" (ferrite node), or delete it to have it registered anew`},

		{preparing, node.Manageable, []edit{spec(hardwareRAID)}, "raid " + redfishRAID},
		{preparing, node.Available, []edit{spec(hardwareRAID)}, "manage"},
		{preparing, node.Manageable, []edit{spec(hardwareRAID), nodeIs(func(n *node.Node) {
			n.TargetRAIDConfig = translate.RAIDConfig(&hostapi.RootDeviceHints{},
				&hostapi.RAID{HardwareRAIDVolumes: []hostapi.HardwareRAIDVolume{{Level: "1"}}})
		})},
			"clean raid.delete_configuration raid.create_configuration"},
		{preparing, node.Manageable, []edit{spec(softwareRAID)}, "UpdateNode"},
		{preparing, node.Manageable,
			[]edit{spec(softwareRAID), nodeIs(func(n *node.Node) { n.Interfaces["raid"] = "agent" })}, "raid " + softRAID},
		{preparing, node.Cleaning, nil, "OK"},
		{preparing, node.CleanFailed, []edit{lastError("no disk")}, "preparation error 1: no disk"},
		{preparing, node.CleanFailed, []edit{failing(hostapi.PreparationError, 1, 3*time.Minute), nodeIs(maintenance)},
			"maintenance false"},
		{preparing, node.CleanFailed, []edit{failing(hostapi.PreparationError, 1, 3*time.Minute)}, "manage"},
		{preparing, node.Manageable,
			[]edit{spec(softwareRAID), status(softMarked), func(facts *Facts) {
				facts.Host.Spec.BMC.Address = "ipmi://10.0.0.1"
			}}, "UpdateNode"},

		{available, node.Manageable, nil, "OK"},
		{available, node.Manageable, []edit{poweredOff}, "power on"},
		{available, node.Manageable, []edit{offline}, "soft power off 3m0s"},
		{available, node.Manageable, []edit{offline, imageIs("http://images/a.qcow2")}, "soft power off 3m0s"},
		{available, node.Manageable, []edit{annotate(hostapi.AnnotationReboot, "")}, "OK"},
		{available, node.Manageable, []edit{annotate(hostapi.AnnotationReboot, `{"force":true,"mode":"hard"}`)}, "power off"},
		{available, node.Manageable, []edit{imageIs("http://images/a.qcow2"), full}, "delayed"},

		{provisioning, node.Manageable, nil, "provide"},
		{provisioning, node.Manageable, []edit{full}, "delayed"},
		{provisioning, node.Available, []edit{func(facts *Facts) { facts.Node.InstanceInfo = nil }}, "UpdateNode"},
		{provisioning, node.Available, []edit{ready}, "deploy"},
		{provisioning, node.Available,
			[]edit{spec(func(s *hostapi.HostSpec) { s.Image, s.CustomDeploy = nil, &hostapi.CustomDeploy{Method: "mine"} }),
				ready}, "deploy deploy.mine"},
		{provisioning, node.Available,
			[]edit{spec(func(s *hostapi.HostSpec) { s.Image.ChecksumType, s.Image.Checksum = hostapi.MD5, "00" }), ready},
			"provisioning error 1: node n1 cannot be deployed: the checksum of image http://images/a.qcow2 is MD5, which " +
				"agents refuse since it can be forged; give its sha256 or sha512"},
		{provisioning, node.Available, []edit{spec(func(s *hostapi.HostSpec) { vmdk := "vmdk"; s.Image.Format = &vmdk })},
			"provisioning error 1: spec.image.format vmdk is not written by this conductor: convert the image to raw or qcow2"},
		{provisioning, node.Available,
			[]edit{ready, spec(func(s *hostapi.HostSpec) { s.UserData = &hostapi.SecretReference{Name: "user"} })},
			"provisioning error 1: config drive: the secret default/user of spec.userData does not exist"},
		// refused before anything was done: asked again at every look, and not taken away
		{provisioning, node.Available, []edit{ready, failing(hostapi.ProvisioningError, 9, time.Second)}, "deploy"},
		{provisioning, node.DeployWait, nil, "OK"},
		{provisioning, node.DeployWait, []edit{annotate(hostapi.AnnotationReboot, `{"force":true}`)}, "delete"},
		{provisioning, node.DeployFailed, []edit{ready, lastError("no suitable disk")},
			"provisioning error 1: image http://images/a.qcow2: no suitable disk"},
		{provisioning, node.DeployFailed,
			[]edit{ready, lastError("no suitable disk"), failing(hostapi.ProvisioningError, 1, time.Second)},
			"provisioning error 1: it failed"},
		{provisioning, node.CleanFailed, []edit{lastError("no agent")},
			"provisioning error 1: cleaning before the deploy failed: no agent"},

		{provisioned, node.Active, nil, "OK"},
		{provisioned, node.Active, []edit{spec(func(s *hostapi.HostSpec) { s.Image.Checksum = "11" })}, "OK"},
		{provisioned, node.Active,
			[]edit{spec(func(s *hostapi.HostSpec) { s.CustomDeploy = &hostapi.CustomDeploy{Method: "mine"} })}, "OK"},
		{provisioned, node.Active, []edit{offline}, "soft power off 3m0s"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationReboot, "")}, "soft power off 3m0s"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationReboot+"/me", `{"mode":"hard"}`)}, "power off"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationReboot+"/me", ""), poweredOff}, "OK"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationReboot, ""), poweredOff}, "power on"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationReboot, ""), neverOff}, "soft rebooting 3m0s"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationReboot+"/me", ""), neverOff}, "OK"},
		{provisioned, node.Active, []edit{offline, nodeIs(func(n *node.Node) { n.TargetPowerState = node.PowerOff })}, "OK"},
		{provisioned, node.Active, []edit{offline, lastError(`power change to "soft power off" failed: hung`)},
			`power management error 1: the machine did not shut down, and is switched off the next time: power change to "soft power off" failed: hung`},
		{provisioned, node.Active, []edit{offline, lastError(`power change to "soft power off" failed: hung`),
			failing(hostapi.PowerManagementError, 1, 3*time.Minute)}, "power off"},
		{provisioned, node.Active, []edit{failing(hostapi.PowerManagementError, 2, time.Second)}, "OK"},
		{provisioned, node.Active, []edit{nodeIs(maintenance)}, "maintenance false"},
		{provisioned, node.Active, []edit{nodeIs(func(n *node.Node) { n.Maintenance, n.Fault = true, plan.PowerFailure })},
			"OK"},
		{provisioned, node.Active, []edit{noSecret},
			"registration error 1: the secret default/bmc of spec.bmc.credentialsName does not exist: create it with username " +
				"and password"},
		{provisioned, "", []edit{noNode}, "CreateNode"},
		{provisioned, node.Enroll, nil, "manage"},
		{provisioned, node.Manageable, nil, "adopt"},
		{provisioned, node.Adopting, nil, "OK"},
		{provisioned, node.AdoptFailed, []edit{lastError("no")},
			"provisioned registration error 1: the machine could not be taken over: no"},
		{provisioned, node.AdoptFailed, []edit{failing(hostapi.ProvisionedRegistrationError, 1, 3*time.Minute)}, "adopt"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationPaused, ""), imageIs("")}, "OK"},

		{external, node.Manageable, nil, "adopt"},
		{external, node.Active, nil, "OK"},
		{external, node.Active, []edit{offline}, "soft power off 3m0s"},

		{deprovisioning, node.Active, nil, "delete"},
		{deprovisioning, node.Active, []edit{full}, "delayed"},
		{deprovisioning, node.Active, []edit{full, deleted, poweredOff, status(delayed)}, "delayed"},
		{deprovisioning, node.Active,
			[]edit{spec(func(s *hostapi.HostSpec) { s.AutomatedCleaningMode = hostapi.CleaningDisabled })}, "UpdateNode"},
		{deprovisioning, node.DeployFailed, nil, "delete"},
		{deprovisioning, node.DeployWait, nil, "delete"},
		{deprovisioning, node.DeployHold, nil, "abort"},
		{deprovisioning, node.Deploying, nil, "OK"},
		{deprovisioning, node.Rescue, nil, "delete"},
		{deprovisioning, node.InspectFailed, nil, "manage"},
		{deprovisioning, node.Manageable, nil, "provide"},
		{deprovisioning, node.CleanFailed, []edit{lastError("no agent")}, "provisioning error 1: cleaning failed: no agent"},
		{deprovisioning, node.CleanFailed, []edit{failing(hostapi.ProvisioningError, 1, 3*time.Minute), nodeIs(maintenance)},
			"maintenance false"},
		{deprovisioning, node.CleanFailed, []edit{failing(hostapi.ProvisioningError, 1, 3*time.Minute)}, "manage"},
		{deprovisioning, node.Error, []edit{lastError("stuck")}, "provisioning error 1: stuck"},
		{deprovisioning, node.Error, []edit{failing(hostapi.ProvisioningError, 1, 3*time.Minute)}, "delete"},
		{deprovisioning, node.Active, []edit{deleted}, "power off once"},
		{deprovisioning, node.Active, []edit{deleted, noSecret}, "power off once"},
		{deprovisioning, node.Active, []edit{deleted, clash}, "power off once"},
		{deprovisioning, node.Active, []edit{deleted, poweredOff}, "delete"},
		{deprovisioning, node.Active, []edit{deleted, neverOff}, "delete"},
		{deprovisioning, node.DeployWait, []edit{deleted}, "delete"},
		{deprovisioning, node.CleanFailed, []edit{deleted, lastError("no agent")}, "power off once"},
		{deprovisioning, node.CleanFailed, []edit{deleted, lastError("no agent"), poweredOff},
			"provisioning error 1: cleaning failed: no agent; that was try 1 of 4 before the host is deleted all the same, " +
				"the next is at 12:01:15 UTC"},
		{deprovisioning, node.Active, []edit{deleted, lastError(silence)},
			`power management error 1: power change to "power off" failed: no answer; that was try 1 of 4 before the host is deleted all the same, the next is at 12:01:15 UTC`},
		{deprovisioning, node.Active,
			[]edit{deleted, lastError(silence), failing(hostapi.PowerManagementError, 1, 74*time.Second)},
			"power management error 1: it failed"},
		{deprovisioning, node.Active,
			[]edit{deleted, lastError(silence), failing(hostapi.PowerManagementError, 1, 75*time.Second)}, "power off once"},
		{deprovisioning, node.Active,
			[]edit{deleted, lastError(silence), failing(hostapi.PowerManagementError, 7, time.Second), observedAt(0)},
			"power off once"},

		{poweringOff, node.Manageable, []edit{deleted}, "power off once"},
		{poweringOff, node.Manageable,
			[]edit{deleted, lastError(silence), failing(hostapi.PowerManagementError, 3, 25*time.Second), observedAt(1),
				status(tried)},
			`power management error 4: power change to "power off" failed: no answer; that was try 4 of 4: the host is deleted all the same`},
		{poweringOff, node.InspectWait, []edit{deleted}, "abort"},
		{poweringOff, node.InspectFailed, []edit{deleted}, "manage"},
		{poweringOff, node.CleanWait, []edit{deleted}, "OK"},
		{poweringOff, node.CleanWait,
			[]edit{deleted, nodeIs(func(n *node.Node) { n.TargetProvisionState = node.Manageable })}, "abort"},
		{poweringOff, node.CleanFailed, []edit{deleted}, "power off once"},

		{provisioned, node.Active, []edit{nodeIs(shuttingDown)}, "OK"},
		{provisioned, node.Active, []edit{deleted, nodeIs(shuttingDown)}, "power off once"},
		{external, node.Active, []edit{deleted, nodeIs(shuttingDown)}, "power off once"},
		{deprovisioning, node.Active, []edit{deleted, nodeIs(shuttingDown)}, "power off once"},
		{poweringOff, node.Manageable, []edit{deleted, nodeIs(shuttingDown)}, "power off once"},
		{registering, node.Enroll, []edit{deleted, nodeIs(shuttingDown)}, "OK"},
		{deleting, node.Active, []edit{deleted, nodeIs(shuttingDown)}, "OK"},
		{provisioned, node.Active, []edit{deleted, nodeIs(shuttingDown), annotate(hostapi.AnnotationDetached, "")}, "OK"},

		{deleting, node.Manageable, []edit{deleted, nodeIs(func(n *node.Node) { n.InstanceUUID = testUID })}, "UpdateNode"},
		{deleting, node.Manageable, []edit{deleted}, "DeleteNode"},
		{deleting, node.Enroll, []edit{deleted}, "DeleteNode"},
		{deleting, node.Active, []edit{deleted}, "maintenance true"},
		{deleting, node.Active, []edit{deleted, nodeIs(maintenance)}, "DeleteNode"},
		{deleting, node.Verifying, []edit{deleted}, "OK"},
		{deleting, "", []edit{deleted, noNode}, "OK"},

		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationDetached, "")}, "maintenance true"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationDetached, ""), nodeIs(maintenance)}, "DeleteNode"},
		{provisioned, "", []edit{annotate(hostapi.AnnotationDetached, ""), noNode}, "detached"},
		{provisioned, "", []edit{annotate(hostapi.AnnotationDetached, `{"deleteAction":"delay"}`), noNode, deleted},
			"detached"},
		{provisioned, "",
			[]edit{noNode, status(func(st *hostapi.HostStatus) { st.OperationalStatus = hostapi.StatusDetached })},
			"CreateNode"},
		{inspecting, node.InspectWait, []edit{annotate(hostapi.AnnotationDetached, "")}, "OK"},
		{inspecting, node.InspectWait, []edit{annotate(hostapi.AnnotationDetached, `{"force":true}`)}, "abort"},
		{provisioned, node.Active, []edit{failing(hostapi.DetachError, 1, time.Second)}, "OK"},
	} {
		facts := newFacts(c.state, c.is, c.with...)
		if got := spoken(made(t, facts)); got != c.want {
			t.Errorf("%s, node %q: got\n\t%s\nwant\n\t%s", c.state, c.is, got, c.want)
		}
	}
}

// A clock that is set back does not keep a host from being tried again.
func TestClockSetBack(t *testing.T) {
	facts := newFacts(hostapi.StateRegistering, node.Enroll, failing(hostapi.RegistrationError, 1, -365*24*time.Hour),
		lastError("no answer"))
	if d := made(t, facts); spoken(d) != "manage" {
		t.Errorf("%s, again at %s", spoken(d), d.RequeueAt)
	}
}

// First the finalizer is saved; the last thing is to take it away.
func TestFinalizer(t *testing.T) {
	facts := newFacts(hostapi.StateNone, "")
	facts.Host.Finalizers, facts.Host.Spec.BMC.Address = nil, "redfish://10.0.0.1"
	d := made(t, facts)
	if diff := cmp.Diff([]string{hostapi.Finalizer}, d.Host.Finalizers); diff != "" ||
		d.Host.Status.Provisioning.State != hostapi.StateNone {
		t.Errorf("%q (-want +got):\n%s", d.Host.Status.Provisioning.State, diff)
	}
	if d := made(t, newFacts(hostapi.StateDeleting, "", deleted, noNode)); len(d.Host.Finalizers) != 0 {
		t.Errorf("a host without a node is held: %v", d.Host.Finalizers)
	}
	facts = newFacts(hostapi.StateProvisioned, node.Active, deleted)
	facts.Host.Finalizers = []string{"another's"}
	if d := made(t, facts); d.Action != nil || !d.RequeueAt.IsZero() {
		t.Errorf("a host that is another's to let go: %s", spoken(d))
	}
}
