package steps

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/agent/disk"
)

// TestAnArrayThatDoesNotStop: those that did are no longer taken to run.
func TestAnArrayThatDoesNotStop(t *testing.T) {
	b := newBench(t, "/dev/sda", "/dev/sdb")
	b.arrays = []array{{Array: disk.Array{Name: "a"}, device: "/dev/md0"},
		{Array: disk.Array{Name: "b"}, device: "/dev/md1"}, {Array: disk.Array{Name: "c"}, device: "/dev/md2"}}
	b.stuck = "/dev/md1"
	if _, err := b.raid(t, Clean, "delete_configuration", raidNode(), nil); err == nil ||
		!strings.Contains(err.Error(), "stop RAID volume b") {
		t.Errorf("%v", err)
	}
	for volume, want := range map[string]bool{"a": false, "b": true} {
		if _, runs := b.runningArray(volume); runs != want {
			t.Errorf("volume %s runs: %v", volume, runs)
		}
	}
}
