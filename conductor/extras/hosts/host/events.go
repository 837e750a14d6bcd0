package host

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// change is a host as it was and as it becomes.
type change struct {
	was, is     hostapi.HostStatus
	uninspected bool // it is not inspected
}

func among(st hostapi.HostStatus, states []hostapi.State) bool {
	return slices.Contains(states, st.Provisioning.State.Canonical())
}

func (c change) leaves(states ...hostapi.State) bool {
	return among(c.was, states) && !among(c.is, states)
}

func (c change) enters(states ...hostapi.State) bool {
	return !among(c.was, states) && among(c.is, states)
}

func (c change) registered() bool {
	return c.is.Provisioning.ID != "" && c.is.Provisioning.ID != c.was.Provisioning.ID
}

func (c change) letIn() bool {
	return c.is.GoodCredentials.Reference != nil && !sameCredentials(c.was.GoodCredentials, c.is.GoodCredentials)
}

// inspectionOver: a host has come out of where it was to be inspected.
func (c change) inspectionOver() bool {
	return c.leaves(hostapi.StateRegistering, hostapi.StateInspecting) && c.enters(hostapi.StatePreparing)
}

func (c change) deprovisioned() bool {
	return c.leaves(hostapi.StateDeprovisioning) && c.was.ErrorType == "" &&
		c.enters(hostapi.StateAvailable, hostapi.StatePoweringOffBeforeDelete)
}

// hostEvents maps changes of a host to events. NODE and IMAGE in a message stand for the host's own.
var hostEvents = []struct {
	reason  string
	message string
	when    func(c change) bool
}{
	{"Discovered", "there is a host, and nothing is said of its BMC",
		func(c change) bool { return c.enters(hostapi.StateUnmanaged) }},
	{"Registered", "the machine is node NODE", change.registered},
	{"BMCAccessValidated", "the BMC accepted the credentials", change.letIn},
	{"InspectionStarted", "inspection started",
		func(c change) bool { return c.enters(hostapi.StateInspecting) && !c.uninspected }},
	{"InspectionComplete", "the inspection is done",
		func(c change) bool { return c.inspectionOver() && !c.uninspected }},
	{"InspectionSkipped", "spec.inspectionMode is disabled",
		func(c change) bool { return c.inspectionOver() && c.uninspected }},
	{"PreparationComplete", "the machine's settings are as desired",
		func(c change) bool { return c.leaves(hostapi.StatePreparing) && c.enters(hostapi.StateAvailable) }},
	{"ProvisioningStarted", "the machine is provisioned",
		func(c change) bool { return c.enters(hostapi.StateProvisioning) }},
	{"ProvisioningComplete", "the machine runs IMAGE",
		func(c change) bool { return c.leaves(hostapi.StateProvisioning) && c.enters(hostapi.StateProvisioned) }},
	{"DeprovisioningStarted", "the workload is being removed",
		func(c change) bool { return c.enters(hostapi.StateDeprovisioning) }},
	{"DeprovisioningComplete", "the workload was removed", change.deprovisioned},
	{"PowerOn", "the machine is on", func(c change) bool { return c.is.PoweredOn && !c.was.PoweredOn }},
	{"PowerOff", "the machine is off", func(c change) bool { return c.was.PoweredOn && !c.is.PoweredOn }},
}

// noRootDisk is the new message about the lack of a root disk; "" where the message has not changed.
func (c change) noRootDisk() string {
	said := func(st hostapi.HostStatus) string {
		for _, condition := range st.Conditions {
			if condition.Type == hostapi.ConditionAvailable {
				return condition.Message
			}
		}
		return ""
	}
	if said(c.is) == said(c.was) {
		return ""
	}
	return said(c.is)
}

// runs describes the workload of a machine: the image's URL, or the deploy step.
func runs(p hostapi.Provisioning) string {
	if url := translate.ImageURL(p.Image); url != "" {
		return url
	}
	return "what the deploy step " + translate.CustomMethod(p.CustomDeploy) + " has put there"
}

// events are the Kubernetes events of a decision, with Metal3's reasons. A failure is
// a warning; its reason is the type of the error as one word. Each further failure is
// another warning. Credentials in URLs are masked: events outlast documents.
func (d *decision) events() (all []hostapi.Event) {
	c := change{d.facts.Host.Status, d.h.Status, d.inspectionDisabled()}
	for _, o := range hostEvents {
		if !o.when(c) {
			continue
		}
		message := strings.NewReplacer("NODE", c.is.Provisioning.ID, "IMAGE", runs(c.is.Provisioning)).Replace(o.message)
		all = append(all, hostapi.Event{Type: hostapi.EventNormal, Reason: o.reason, Message: nodeapi.MaskText(message)})
	}
	if why := c.noRootDisk(); why != "" {
		all = append(all, hostapi.Event{Type: hostapi.EventWarning, Reason: "NoRootDevice", Message: why})
	}
	if d.away && !strings.HasPrefix(d.shown.ErrorMessage, awayMark) {
		all = append(all, hostapi.Event{Type: hostapi.EventWarning, Reason: "NoConductor", Message: d.facts.Away})
	}
	if st := c.is; st.ErrorType != "" && (st.ErrorType != c.was.ErrorType || st.ErrorCount > c.was.ErrorCount) {
		var reason strings.Builder
		for word := range strings.FieldsSeq(string(st.ErrorType)) {
			reason.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		all = append(all,
			hostapi.Event{Type: hostapi.EventWarning, Reason: reason.String(), Message: nodeapi.MaskText(st.ErrorMessage)})
	}
	return all
}
