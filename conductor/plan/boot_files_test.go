package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestPasswordsInBootFiles: boot scripts are visible on the machine's network and console. A URL with a password is
// refused before anything begins, and is not quoted.
func TestPasswordsInBootFiles(t *testing.T) {
	const at = "http://root:hunter2@files/x"
	for name, tc := range map[string]struct {
		n    node.Node
		verb node.Event
	}{
		"an ISO": {
			node.Node{InstanceInfo: map[string]any{"boot_iso": at}, Interfaces: map[string]string{"deploy": "ramdisk"}},
			node.Deploy,
		},
		"an instance's": {
			node.Node{InstanceInfo: map[string]any{"kernel": "http://files/k", "ramdisk": at},
				Interfaces: map[string]string{"deploy": "ramdisk"}}, node.Deploy,
		},
		"a ramdisk's kernel": {node.Node{DriverInfo: map[string]any{"deploy_kernel": at}}, node.Provide},
		"a ramdisk":          {node.Node{DriverInfo: map[string]any{"deploy_ramdisk": at}}, node.Inspect},
		"a rescue's, by user": {node.Node{DriverInfo: map[string]any{"rescue_ramdisk": "http://token@files/x"}},
			node.Provide},
	} {
		tc.n.UUID, tc.n.ProvisionState = "11111111-2222-4333-8444-555555555555", node.Manageable
		if tc.verb == node.Deploy {
			tc.n.ProvisionState = node.Available
		}
		if tc.n.Interfaces == nil {
			tc.n.Interfaces = map[string]string{"deploy": "direct", "inspect": "agent"}
		}
		change, err := Decide(tc.n, Facts{Settings: DefaultSettings()}, Request{Verb: tc.verb}, time.Unix(0, 0))
		if err == nil || change != nil || !strings.Contains(err.Error(), "password") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, %v", name, change, err)
		}
	}
}
