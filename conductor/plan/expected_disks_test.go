package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

func TestExpectedDisks(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	found := agentapi.Inventory{Disks: []agentapi.Disk{
		{Name: "/dev/sda", Serial: "A", Size: 1, Transport: "sas", HCTL: "0:2:0:0"},
		{Name: "/dev/nvme0n1", Serial: "N", Size: 1, Transport: "nvme"},
		{Name: "/dev/md0", Size: 1}, {Name: "/dev/sdb", Serial: "empty"},
	}}
	names := func(n node.Node) (all []string) {
		for _, d := range plan.ExpectedDisks(n, found) {
			all = append(all, d.Name)
		}
		return all
	}
	raid := func(when string) map[string]any { return map[string]any{"last_updated": when} }
	all, drives := []string{"/dev/sda", "/dev/nvme0n1"}, []string{"/dev/nvme0n1"}
	for name, tc := range map[string]struct {
		n    node.Node
		want []string
	}{
		"inspected":           {node.Node{InspectionFinishedAt: &at}, all},
		"volumes made before": {node.Node{InspectionFinishedAt: &at, RAIDConfig: raid("2026-11-20 11:59:59.000000")}, all},
		"volumes made since": {
			node.Node{InspectionFinishedAt: &at, RAIDConfig: raid("2026-11-20 12:00:01.000000")}, drives,
		},
		"volumes without time": {node.Node{InspectionFinishedAt: &at, RAIDConfig: map[string]any{}}, all},
	} {
		if d := cmp.Diff(tc.want, names(tc.n)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// TestComparesDisks: only agents of ours get the disks, and only with steps that need them.
func TestComparesDisks(t *testing.T) {
	ours, others := map[string]string{"ferrite_hardware_manager": "1.0"},
		map[string]string{"generic_hardware_manager": "1.2"}
	for _, tc := range []struct {
		step     string
		versions map[string]string
		want     bool
	}{
		{"erase_devices", ours, true}, {"erase_devices_express", ours, true}, {"erase_devices_metadata", ours, true},
		{"write_image", ours, true}, {"inject_files", ours, false}, {"erase_devices_metadata", others, false},
		{"erase_devices", nil, false},
	} {
		n := node.Node{Run: &node.Run{Versions: tc.versions}}
		if got := plan.ComparesDisks(n, node.Step{Interface: "deploy", Step: tc.step}); got != tc.want {
			t.Errorf("%s of %v: %v", tc.step, tc.versions, got)
		}
	}
}
