package host

import (
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// BMCToEnroll is the host, a name or an address, where the BMC of a machine is that is about
// to be enrolled: other nodes may have it already. "" for a machine that is not.
func BMCToEnroll(facts Facts) string {
	if facts.Node != nil || facts.Host.DeletionTimestamp != nil ||
		facts.Host.Status.Provisioning.State == hostapi.StateNone {
		return ""
	}
	a, err := translate.AccessOf(facts.Host.Spec.BMC)
	if err != nil {
		return ""
	}
	return a.Host
}
