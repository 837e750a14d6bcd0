package host

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func beingServiced(facts *Facts) { facts.Host.Status.OperationalStatus = hostapi.StatusServicing }

// becomes is a decision, and the host's state after it.
func becomes(d Decision) string {
	text := spoken(d)
	if st := d.Host.Status; d.Action != nil && st.OperationalStatus != hostapi.StatusOK {
		text += ", " + string(st.OperationalStatus)
	}
	if d.Components != nil {
		text += fmt.Sprintf(", done %v", d.Components.Status.Updates)
	}
	return text
}

// TestFirmwareIsMade has the decisions that documents about firmware lead to, before a host is available and while it
// is at work.
func TestFirmwareIsMade(t *testing.T) {
	available, preparing, provisioned, external := hostapi.StateAvailable, hostapi.StatePreparing,
		hostapi.StateProvisioned, hostapi.StateExternallyProvisioned
	settings, updates := settingsWanted("Speed=Fast"), updatesWanted(nil, "bmc=http://b")
	live := policyIs(hostapi.OnReboot, hostapi.OnReboot)
	rested := failing(hostapi.ServicingError, 1, 3*time.Minute)
	const both = "bios.apply_configuration firmware.update"
	for name, c := range map[string]struct {
		state hostapi.State
		is    node.State
		with  []edit
		want  string
	}{
		"settings are made": {preparing, node.Manageable, []edit{settings}, "clean bios.apply_configuration"},
		"updates are done": {preparing, node.Manageable, []edit{updates},
			"clean firmware.update, done [{bmc http://b}]"},
		"after volumes": {
			preparing, node.Manageable, []edit{spec(hardwareRAID), ready1, settings, updates},
			"clean raid.delete_configuration raid.create_configuration " + both + ", done [{bmc http://b}]",
		},
		"of an available node": {preparing, node.Available, []edit{settings}, "manage"},
		"what is so already is let be": {
			preparing, node.Manageable,
			[]edit{settingsWanted("Speed=Slow"), updatesWanted([]string{"bmc=http://b"}, "bmc=http://b")}, "OK",
		},
		"what cannot be is let be": {
			preparing, node.Manageable, []edit{settingsWanted("Speed=Fast", "Delay=99"), updatesWanted(nil, "disk=http://b")},
			"OK",
		},
		"one that can be is made": {preparing, node.Manageable, []edit{settingsWanted("Speed=Turbo"), updates},
			"clean firmware.update, done [{bmc http://b}]"},
		"an update that is gone": {preparing, node.Manageable, []edit{updatesWanted([]string{"bmc=http://b"})},
			"OK, done []"},
		"a failure forgets updates": {
			preparing, node.CleanFailed, []edit{updatesWanted([]string{"bmc=http://b"}, "bmc=http://b"), lastError("no")},
			"preparation error 1: no, done []",
		},
		"and they are done again": {
			preparing, node.Manageable, []edit{updates, failing(hostapi.PreparationError, 1, 3*time.Minute)},
			"clean firmware.update, done [{bmc http://b}]",
		},
		"a policy does not matter here": {preparing, node.Manageable, []edit{settings, live},
			"clean bios.apply_configuration"},
		"at work nothing is changed": {provisioned, node.Active, []edit{settings, updates, poweredOff}, "power on"},
		"nor by the usual policy": {
			provisioned, node.Active, []edit{settings, updates, policyIs(hostapi.OnPreparing, ""), poweredOff}, "power on",
		},
		"nor while it is on": {provisioned, node.Active, []edit{settings, updates, live}, "OK"},
		"a reboot begins as ever": {
			provisioned, node.Active, []edit{settings, live, annotate(hostapi.AnnotationReboot, "")}, "soft power off 3m0s",
		},
		"in its middle there is service": {
			provisioned, node.Active, []edit{settings, updates, live, annotate(hostapi.AnnotationReboot, ""), poweredOff},
			"service " + both + ", servicing, done [{bmc http://b}]",
		},
		"of somebody else's work too": {external, node.Active, []edit{settings, live, poweredOff},
			"service bios.apply_configuration, servicing"},
		"only of what the policy says": {
			provisioned, node.Active, []edit{settings, updates, policyIs(hostapi.OnReboot, hostapi.OnPreparing), poweredOff},
			"service bios.apply_configuration, servicing",
		},
		"or of the other": {
			provisioned, node.Active, []edit{settings, updates, policyIs("", hostapi.OnReboot), poweredOff},
			"service firmware.update, servicing, done [{bmc http://b}]",
		},
		"not of what cannot be": {
			provisioned, node.Active, []edit{settingsWanted("Speed=Turbo"), live, poweredOff}, "power on",
		},
		"not of one that stays off": {provisioned, node.Active, []edit{settings, live, poweredOff, offline}, "OK"},
		"not of one that is kept off": {
			provisioned, node.Active, []edit{settings, live, poweredOff, annotate(hostapi.AnnotationReboot+"/me", "")}, "OK",
		},
		"not of one that may be on": {
			provisioned, node.Active, []edit{settings, live, poweredOff, nodeIs(func(n *node.Node) { n.PowerState = "" })},
			"power on",
		},
		"an update that is gone, at work": {
			provisioned, node.Active, []edit{updatesWanted([]string{"bmc=http://b"}), live, poweredOff}, "power on, done []",
		},
		"under way": {provisioned, node.Servicing, []edit{settings, live, beingServiced, poweredOff},
			"servicing"},
		"waiting": {provisioned, node.ServiceWait, []edit{settings, live, beingServiced},
			"servicing"},
		"held": {provisioned, node.ServiceHold, []edit{settings, live, beingServiced},
			"servicing"},
		"the conductor had ended":   {provisioned, node.ServiceWait, []edit{settings, live}, "servicing"},
		"the node's own":            {provisioned, node.ServiceWait, nil, "OK"},
		"the node's own has failed": {provisioned, node.ServiceFailed, nil, "OK"},
		"over": {
			provisioned, node.Active, []edit{settingsWanted("Speed=Slow"), live, beingServiced}, "OK",
		},
		"over, and off": {
			provisioned, node.Active, []edit{settingsWanted("Speed=Slow"), live, beingServiced, poweredOff}, "power on",
		},
		"over, and something new": {
			provisioned, node.Active, []edit{settings, live, beingServiced, poweredOff}, "power on",
		},
		"not wanted any more": {provisioned, node.ServiceWait, []edit{settingsWanted(), live, beingServiced},
			"abort, servicing"},
		"the policy is gone": {provisioned, node.ServiceWait, []edit{settings, beingServiced},
			"abort, servicing"},
		"nor is it at once": {provisioned, node.Servicing, []edit{settingsWanted(), live, beingServiced},
			"servicing"},
		"aborted": {
			provisioned, node.ServiceFailed, []edit{settingsWanted(), live, beingServiced, lastError("aborted")},
			"abort, servicing",
		},
		"failed": {
			provisioned, node.ServiceFailed, []edit{settings, updatesWanted([]string{"bmc=http://b"}, "bmc=http://b"), live,
				beingServiced, lastError("no")}, "servicing error 1: no, done []",
		},
		"failed, updates are no matter": {
			provisioned, node.ServiceFailed, []edit{settings, updatesWanted([]string{"bmc=http://b"}, "bmc=http://b"),
				policyIs(hostapi.OnReboot, ""), beingServiced, lastError("no")}, "servicing error 1: no",
		},
		"failed just now": {
			provisioned, node.ServiceFailed, []edit{settings, live, failing(hostapi.ServicingError, 1, time.Second)},
			"servicing error 1: it failed",
		},
		"failed, in maintenance": {
			provisioned, node.ServiceFailed, []edit{settings, live, rested, nodeIs(maintenance)}, "maintenance false, error",
		},
		"failed, tried again": {provisioned, node.ServiceFailed, []edit{settings, live, rested},
			"service bios.apply_configuration, servicing"},
		"failed, all is well": {
			provisioned, node.ServiceFailed, []edit{settingsWanted("Speed=Slow"), live, rested}, "abort, servicing",
		},
		"failed, not wanted": {
			provisioned, node.ServiceFailed, []edit{settingsWanted(), live, failing(hostapi.ServicingError, 1, time.Second)},
			"abort, servicing",
		},
		"refused just now": {
			provisioned, node.Active, []edit{settings, live, poweredOff, failing(hostapi.ServicingError, 1, time.Second)},
			"servicing error 1: it failed",
		},
		"refused, tried again": {provisioned, node.Active, []edit{settings, live, poweredOff, rested},
			"service bios.apply_configuration, servicing"},
		"refused, not wanted": {
			provisioned, node.Active, []edit{settingsWanted(), live, poweredOff, rested}, "power on",
		},
		"rescued meanwhile": {provisioned, node.Rescue, []edit{settings, live, beingServiced},
			`servicing error 1: node n1 is "rescue", from which a host that is "provisioned" cannot continue: bring it to "manageable" (ferrite node), or delete it to have it registered anew`},
		"deprovisioned meanwhile": {hostapi.StateDeprovisioning, node.ServiceWait,
			[]edit{settings, live, beingServiced}, "delete"},
		"detached meanwhile": {
			provisioned, node.Servicing, []edit{settings, live, beingServiced, annotate(hostapi.AnnotationDetached, "")},
			"servicing",
		},
		"settings that differ are noticed": {available, node.Manageable, []edit{settings}, "OK"},
	} {
		facts := newFacts(c.state, c.is, append([]edit{reportsSmall}, c.with...)...)
		if got := becomes(made(t, facts)); got != c.want {
			t.Errorf("%s: got\n\t%s\nwant\n\t%s", name, got, c.want)
		}
	}
}

// ready1 is a node that knows the volumes of hardwareRAID.
func ready1(facts *Facts) {
	facts.Node.TargetRAIDConfig = translate.RAIDConfig(&hostapi.RootDeviceHints{},
		&hostapi.RAID{HardwareRAIDVolumes: []hostapi.HardwareRAIDVolume{{Level: "1"}}})
}

// TestFirmwareMovesHosts: an available host goes back when other firmware is
// wanted, which can be had.
func TestFirmwareMovesHosts(t *testing.T) {
	for name, c := range map[string]struct {
		with edit
		want hostapi.State
	}{
		"settings":             {settingsWanted("Speed=Fast"), hostapi.StatePreparing},
		"settings as they are": {settingsWanted("Speed=Slow"), hostapi.StateAvailable},
		"wrong settings":       {settingsWanted("Speed=Turbo"), hostapi.StateAvailable},
		"updates":              {updatesWanted(nil, "bios=http://b"), hostapi.StatePreparing},
		"updates gone":         {updatesWanted([]string{"bios=http://b"}), hostapi.StatePreparing},
		"updates done":         {updatesWanted([]string{"bios=http://b"}, "bios=http://b"), hostapi.StateAvailable},
	} {
		d := made(t, newFacts(hostapi.StateAvailable, node.Manageable, reportsSmall, c.with))
		if got := d.Host.Status.Provisioning.State; got != c.want {
			t.Errorf("%s: the host is %q, want %q", name, got, c.want)
		}
	}
}

// TestFirmwareSteps: the steps have the wanted values, as they were written, as far as they differ from the present
// ones.
func TestFirmwareSteps(t *testing.T) {
	facts := newFacts(hostapi.StatePreparing, node.Manageable, reportsSmall,
		settingsWanted("Speed=Fast", "QuietBoot=false", "Label=mine"),
		updatesWanted([]string{"bios=http://a"}, "nic:a=http://n", "bios=http://a", "bmc=http://b"))
	facts.Firmware.Settings.Spec.Settings["Delay"] = hostapi.IntOrString{Text: "7", Number: true}
	delete(facts.Firmware.Settings.Spec.Settings, "Label")
	next, _ := firmware.Settings(facts.FirmwareFacts())
	facts.Firmware.Settings = &next
	want := []node.Step{
		{Interface: "bios", Step: "apply_configuration", Args: map[string]any{"settings": []any{
			map[string]any{"name": "Delay", "value": 7.0}, map[string]any{"name": "QuietBoot", "value": "false"},
			map[string]any{"name": "Speed", "value": "Fast"},
		}}},
		{Interface: "firmware", Step: "update", Args: map[string]any{"settings": []any{
			map[string]any{"component": "nic:a", "url": "http://n"}, map[string]any{"component": "bmc", "url": "http://b"},
		}}},
	}
	p, _ := made(t, facts).Action.(Provision)
	if diff := cmp.Diff(want, p.Request.CleanSteps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestServicingIsTold: a host in service is not ready, and a host after its service has no errors behind it.
func TestServicingIsTold(t *testing.T) {
	d := made(t, newFacts(hostapi.StateProvisioned, node.Active, reportsSmall, settingsWanted("Speed=Fast"),
		policyIs(hostapi.OnReboot, ""), poweredOff))
	ready := (&decision{h: d.Host}).condition(hostapi.ConditionReady)
	if ready == nil || ready.Status != hostapi.False || ready.Reason != Servicing {
		t.Errorf("ready: %+v", ready)
	}
	d = made(t, newFacts(hostapi.StateProvisioned, node.Active, reportsSmall, settingsWanted("Speed=Slow"),
		policyIs(hostapi.OnReboot, ""), failing(hostapi.ServicingError, 3, time.Second)))
	if st := d.Host.Status; st.ErrorType != "" || st.ErrorCount != 0 || st.OperationalStatus != hostapi.StatusOK {
		t.Errorf("after it: %+v", st)
	}
}
