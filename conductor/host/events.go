package host

import (
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// change is a host as it was and as it becomes.
type change struct {
	was, is     hostapi.HostStatus
	uninspected bool // it is not inspected
}

func (c change) from(states ...hostapi.State) bool {
	return among(c.was, states) && !among(c.is, states)
}
func (c change) to(states ...hostapi.State) bool { return !among(c.was, states) && among(c.is, states) }

func among(st hostapi.HostStatus, states []hostapi.State) bool {
	for _, s := range states {
		if st.Provisioning.State.Canonical() == s {
			return true
		}
	}
	return false
}

// inspectionOver: a host has come out of where it was to be inspected.
func (c change) inspectionOver() bool {
	return c.from(hostapi.StateRegistering, hostapi.StateInspecting) && c.to(hostapi.StatePreparing)
}

// hostEvents is what is told of a host, and when: by a message, or by say where
// something has to be named.
var hostEvents = []struct {
	reason  string
	when    func(c change) bool
	message string
	say     func(c change) string
}{
	{reason: "Discovered", when: func(c change) bool { return c.to(hostapi.StateUnmanaged) }, message: "there is a host, and nothing is said of its BMC"},
	{reason: "Registered", when: func(c change) bool {
		return c.is.Provisioning.ID != "" && c.is.Provisioning.ID != c.was.Provisioning.ID
	}, say: func(c change) string { return "the machine is node " + c.is.Provisioning.ID }},
	{reason: "BMCAccessValidated", when: func(c change) bool {
		return c.is.GoodCredentials.Reference != nil && !sameCredentials(c.was.GoodCredentials, c.is.GoodCredentials)
	}, message: "the BMC lets us in"},
	{reason: "InspectionStarted", when: func(c change) bool { return c.to(hostapi.StateInspecting) && !c.uninspected }, message: "the machine is looked at"},
	{reason: "InspectionComplete", when: func(c change) bool { return c.inspectionOver() && !c.uninspected }, message: "what the machine is made of is known"},
	{reason: "InspectionSkipped", when: func(c change) bool { return c.inspectionOver() && c.uninspected }, message: "nobody wants to know what the machine is made of"},
	{reason: "PreparationComplete", when: func(c change) bool { return c.from(hostapi.StatePreparing) && c.to(hostapi.StateAvailable) }, message: "the machine's settings are as wanted"},
	{reason: "ProvisioningStarted", when: func(c change) bool { return c.to(hostapi.StateProvisioning) }, message: "the machine is provisioned"},
	{reason: "ProvisioningComplete", when: func(c change) bool {
		return c.from(hostapi.StateProvisioning) && c.to(hostapi.StateProvisioned)
	}, say: func(c change) string { return "the machine runs " + runs(c.is.Provisioning) }},
	{reason: "DeprovisioningStarted", when: func(c change) bool { return c.to(hostapi.StateDeprovisioning) }, message: "what the machine runs is taken away"},
	{reason: "DeprovisioningComplete", when: func(c change) bool {
		return c.from(hostapi.StateDeprovisioning) && c.was.ErrorType == "" && c.to(hostapi.StateAvailable, hostapi.StatePoweringOffBeforeDelete)
	}, message: "nothing is left of what the machine ran"},
	{reason: "PowerOn", when: func(c change) bool { return c.is.PoweredOn && !c.was.PoweredOn }, message: "the machine is on"},
	{reason: "PowerOff", when: func(c change) bool { return c.was.PoweredOn && !c.is.PoweredOn }, message: "the machine is off"},
}

// runs is what was put onto a machine, in a word.
func runs(p hostapi.Provisioning) string {
	if url := urlOf(p.Image); url != "" {
		return url
	}
	return "what the deploy step " + customMethod(p.CustomDeploy) + " has put there"
}

// events is what people are told of a decision, in Metal3's words. What has
// failed is a warning, called by the type of its error as one word; so is each
// failure after it. Credentials in URLs are masked: events outlast documents.
func (d *decision) events() (all []hostapi.Event) {
	c := change{d.s.Host.Status, d.h.Status, d.inspectionDisabled()}
	for _, o := range hostEvents {
		if !o.when(c) {
			continue
		}
		message := o.message
		if o.say != nil {
			message = o.say(c)
		}
		all = append(all, hostapi.Event{Type: hostapi.EventNormal, Reason: o.reason, Message: nodeapi.MaskText(message)})
	}
	if st := c.is; st.ErrorType != "" && (st.ErrorType != c.was.ErrorType || st.ErrorCount > c.was.ErrorCount) {
		var reason strings.Builder
		for word := range strings.FieldsSeq(string(st.ErrorType)) {
			reason.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		all = append(all, hostapi.Event{Type: hostapi.EventWarning, Reason: reason.String(), Message: nodeapi.MaskText(st.ErrorMessage)})
	}
	return all
}
