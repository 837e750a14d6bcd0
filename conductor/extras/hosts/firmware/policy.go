package firmware

import (
	"reflect"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Policy is the HostUpdatePolicy of a host as it becomes: it is people's,
// and only comes to go with its host. changed is false when it does already.
func Policy(facts Facts) (next hostapi.HostUpdatePolicy, changed bool) {
	if !KeepsFirmware(facts) || facts.Documents.Policy == nil {
		return next, false
	}
	next = *facts.Documents.Policy
	next.OwnerReferences = hostapi.WithOwner(next.OwnerReferences, hostapi.KindHost, facts.Host.ObjectMeta)
	return next, !reflect.DeepEqual(next, *facts.Documents.Policy)
}
