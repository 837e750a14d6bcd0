package host

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Errors quote nothing of a secret: a reader of hosts and their events may lack the
// right to read secrets.
func TestSecretsAreNotToldInErrors(t *testing.T) {
	for name, text := range map[string]string{
		"alias":         "password: *hunter2",
		"text":          "hunter2",
		"list":          "[hunter2]",
		"key":           "hunter2\nx: y",
		"number":        "password: !!int hunter2",
		"date":          "password: !!timestamp hunter2",
		"key of a list": "? [hunter2]\n: x",
	} {
		t.Run(name, func(t *testing.T) {
			facts := newFacts(hostapi.StateAvailable, node.Available, imageIs("http://images/a"),
				spec(func(s *hostapi.HostSpec) {
					s.PreprovisioningNetworkDataName = "net"
				}))
			facts.Secrets["net"] = hostapi.Secret{Data: map[string][]byte{"networkData": []byte(text)}}
			if told := made(t, facts).Host.Status.ErrorMessage; told == "" || strings.Contains(told, "hunter2") {
				t.Errorf("told: %s", told)
			}
		})
	}
}
