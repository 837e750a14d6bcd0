package jobs_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	client "github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestAgentPowerOffFails: if an agent does not turn its machine off, the history notes it once. The BMC turns it off,
// and the deploy goes on.
func TestAgentPowerOffFails(t *testing.T) {
	for name, c := range map[string]struct {
		refusal error
		fault   string
		slow    bool
		want    string
	}{
		"at once":       {fault: "poweroff: exit status 1", want: "poweroff: exit status 1"},
		"after a while": {fault: "poweroff: exit status 1", slow: true, want: "poweroff: exit status 1"},
		"not taken":     {refusal: &client.APIError{Status: http.StatusNotFound}, want: "agent answered 404"},
		"not done":      {want: "the machine is on after 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.PowerOff, w.PowerFault, w.PowerSlow = c.refusal, c.fault, c.slow
				w.Images = &finder{}
				w.Start()
				defer w.Close()
				id := deployable(w, "file:///srv/os.raw")
				w.Ask(id, node.Deploy, node.Active)
				history, err := w.E.History(w.Ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				var told []string
				for _, h := range history {
					if strings.Contains(h.Event, "power_off") {
						told = append(told, h.Severity+" "+h.Event)
					}
				}
				if len(told) != 1 || !strings.HasPrefix(told[0], "WARNING ") || !strings.Contains(told[0], c.want) {
					t.Errorf("the history tells %q, want one warning with %q", told, c.want)
				}
			})
		})
	}
}
