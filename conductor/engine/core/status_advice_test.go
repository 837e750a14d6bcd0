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
		{node.Enroll, "", "ferrite node manage m1"},
		{node.Enroll, "the BMC did not answer", "correct the cause of the last error, then: ferrite node manage m1"},
		{node.DeployFailed, "", "ferrite node logs m1; correct the cause, then: ferrite node deploy m1, or undeploy"},
		{node.Rescue, "", "ssh rescue@10.0.0.9; to end it: ferrite node unrescue m1"},
		{node.Deploying, "", "nothing: the conductor is at work"},
		{node.Active, "power change failed", ""},
	} {
		if got := advice(node.Node{Name: "m1", ProvisionState: c.state, LastError: c.lastError,
			Agent: node.Agent{URL: "https://10.0.0.9:9999"}}); got != c.want {
			t.Errorf("advice for %s with last error %q is %q, want %q", c.state, c.lastError, got, c.want)
		}
	}
}
