package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestErasingGoesAlong: an agent gets the erase settings in Ironic's form; the node's own settings take precedence.
func TestErasingGoesAlong(t *testing.T) {
	n := node.Node{
		DriverInternalInfo: map[string]any{"agent_enable_nvme_secure_erase": false, "wipe_special_filesystems": true},
	}
	want := map[string]any{
		"agent_continue_if_secure_erase_failed": false, "agent_continue_if_ata_erase_failed": false,
		"agent_enable_nvme_secure_erase": false,
		"agent_enable_ata_secure_erase":  true, "agent_erase_skip_read_only": false, "agent_erase_devices_iterations": 1,
		"agent_erase_devices_zeroize": true, "disk_erasure_concurrency": 4, "wipe_special_filesystems": true,
	}
	if diff := cmp.Diff(want, AgentView(n, plan.DefaultErasing())["driver_internal_info"]); diff != "" {
		t.Error(diff)
	}
	if len(n.DriverInternalInfo) != 2 {
		t.Error("the node itself was changed")
	}
}
