package serve

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// Where documents are.
const (
	hostsPath    = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts"
	hardwarePath = "/apis/metal3.io/v1alpha1/namespaces/metal3/hardwaredata"
	secretsPath  = "/api/v1/namespaces/metal3/secrets"
	hostPath     = hostsPath + "/one"
)

// rests: the host is on, and says that nothing is left to be done of its spec.
func rests(h hostapi.Host, s hostapi.State) bool {
	eventLog := h.Status.Conditions
	return h.Status.Provisioning.State == s && h.Status.PoweredOn && len(eventLog) > 0 &&
		eventLog[0].ObservedGeneration == h.Generation
}

// secretNamed refers to a secret.
func secretNamed(secret string) map[string]any { return map[string]any{"name": secret} }
