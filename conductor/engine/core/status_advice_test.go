package core

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		state     node.State
		lastError string
		want      string
	}{
		{node.Enroll, "", ""},
		{node.Enroll, "the BMC did not answer", "correct the cause in last_error, then ask for: manage"},
		{node.CleanFailed, "", "correct the cause in last_error, then ask for: manage"},
		{node.DeployFailed, "", "correct the cause in last_error, then ask for: rebuild or deploy or undeploy"},
		{node.Error, "", "correct the cause in last_error, then ask for: rebuild or undeploy"},
		{node.CleanWait, "", "look at the boot stages and the machine's log or console; to give up: abort"},
		{node.Active, "power change failed", ""},
	} {
		if got := advice(node.Node{ProvisionState: c.state, LastError: c.lastError}); got != c.want {
			t.Errorf("advice for %s with last error %q is %q, want %q", c.state, c.lastError, got, c.want)
		}
	}
}
