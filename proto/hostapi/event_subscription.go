package hostapi

import (
	"net/url"
	"reflect"
)

// BMCEventSubscription has the BMC of a host send its events to a web server.
type BMCEventSubscription struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   BMCEventSubscriptionSpec   `json:"spec" doc:"The wanted subscription. It never changes."`
	Status BMCEventSubscriptionStatus `json:"status,omitzero" doc:"The subscription at the BMC, written by the conductor."`
}

// BMCEventSubscriptionSpec is the wanted subscription.
type BMCEventSubscriptionSpec struct {
	HostName       string           `json:"hostName,omitempty" rule:"form=name" doc:"Name of the BareMetalHost, of the same namespace."`
	Destination    string           `json:"destination,omitempty" doc:"URL that the BMC sends events to."`
	Context        string           `json:"context,omitempty" doc:"Text that the BMC adds to each event."`
	HTTPHeadersRef *SecretReference `json:"httpHeadersRef,omitempty" doc:"Secret of the same namespace with HTTP headers for the destination, by name."`
}

// BMCEventSubscriptionStatus is the subscription at the BMC.
type BMCEventSubscriptionStatus struct {
	SubscriptionID string `json:"subscriptionID,omitempty" doc:"Its Id at the BMC."`
	Error          string `json:"error,omitempty" doc:"The last failure."`
}

// SubscriptionFinalizer keeps a deleted subscription until the BMC has none any more.
const SubscriptionFinalizer = "bmceventsubscription.metal3.io"

// checkSubscription has the rules of Metal3's webhook.
func checkSubscription(s *BMCEventSubscription, add report) {
	if s.Spec.HostName == "" {
		add(Problem{Path: "spec.hostName", Reason: "the name of a BareMetalHost is required", Missing: true})
	}
	if ref := s.Spec.HTTPHeadersRef; ref != nil {
		if ref.Name == "" {
			add(Problem{Path: "spec.httpHeadersRef.name", Reason: "the name of a Secret is required", Missing: true})
		}
		if ref.Foreign(s.Namespace) {
			add(Problem{Path: "spec.httpHeadersRef.namespace", Value: ref.Namespace,
				Reason: "secrets of another namespace than the subscription's are not used"})
		}
	}
	switch u, err := url.ParseRequestURI(s.Spec.Destination); {
	case s.Spec.Destination == "":
		add(Problem{Path: "spec.destination", Reason: "it is required", Missing: true})
	case err != nil || u.Hostname() == "":
		add(Problem{Path: "spec.destination", Value: s.Spec.Destination,
			Reason: "expected a URL like https://10.0.0.1/events"})
	case u.Path == "":
		add(Problem{Path: "spec.destination", Value: s.Spec.Destination,
			Reason: "expected a path behind the host, / at the least"})
	}
}

// checkSubscriptionChange refuses changes: a BMC changes the context of a subscription alone (DSP0266).
func checkSubscriptionChange(old, next *BMCEventSubscription, add report) {
	if !reflect.DeepEqual(old.Spec, next.Spec) {
		add(Problem{Path: "spec", Forbidden: true,
			Reason: "a subscription does not change: delete it, and create another"})
	}
}
