package servetest

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// Where documents are.
const (
	HostsPath    = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts"
	HardwarePath = "/apis/metal3.io/v1alpha1/namespaces/metal3/hardwaredata"
	SecretsPath  = "/api/v1/namespaces/metal3/secrets"
	HostPath     = HostsPath + "/one"
)

// IsDone reports whether a host is on, in state s, and has conditions about its newest spec.
func IsDone(h hostapi.Host, s hostapi.State) bool {
	conditions := h.Status.Conditions
	return h.Status.Provisioning.State == s && h.Status.PoweredOn && len(conditions) > 0 &&
		conditions[0].ObservedGeneration == h.Generation
}

// SecretNamed refers to a secret.
func SecretNamed(secret string) map[string]any { return map[string]any{"name": secret} }
