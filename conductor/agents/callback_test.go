package agents

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestCallbackPath: a callback URL with a path is taken only where the operator
// said so, and the conductor does not hear of another.
func TestCallbackPath(t *testing.T) {
	for _, let := range []bool{false, true} {
		for path, has := range map[string]bool{"": false, "/": false, "/agents/web-1": true, "/v1/commands": true,
			"/../a": true} {
			c := &scripted{state: node.CleanWait}
			a := ask(t, NewServer(Options{Conductor: c, CallbackPath: let}), 115, "POST", "/v1/heartbeat/n1",
				`{"callback_url":"https://h:9999`+path+`","agent_token":"`+aToken+`","agent_version":"9"}`)
			if taken := !has || let && !strings.Contains(path, ".."); taken != (a.status == 202) || taken != (len(c.calls) > 0) {
				t.Errorf("%q, let %v: %d %s, the conductor heard %v", path, let, a.status, a.text, c.calls)
			}
		}
	}
}
