package redfish_test

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestStepArguments: each argument that a step declares is read, which a value of the wrong kind shows, and any other
// is refused before anything is done.
func TestStepArguments(t *testing.T) {
	b := newBoard(t)
	b.resources(map[string]string{
		"/redfish/v1/Systems/1": `{"@odata.id": "/redfish/v1/Systems/1", "Id": "1"}`,
	}, func(string) int { return 500 })
	d := newDriver(t, redfish.Options{})
	for _, o := range d.Steps(node.Node{}) {
		wrong := map[string]string{"nonsense": "nonsense"}
		for name := range o.Args {
			wrong[name] = name
		}
		for name, says := range wrong {
			s := node.Step{Interface: o.Interface, Step: o.Step, Args: map[string]any{name: "no JSON of the right kind"}}
			_, err := d.DoStep(t.Context(), b.node(), s, "")
			if err == nil || !strings.Contains(err.Error(), "the step's arguments are wrong") ||
				!strings.Contains(err.Error(), says) {
				t.Errorf("%s with a bad %s: %v", s, name, err)
			}
		}
	}
}
