package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPromises makes files of certain sizes and says which are too large.
func TestPromises(t *testing.T) {
	for _, tt := range []struct {
		name, profile          string
		agent, kernel, ramdisk int64 // bytes
		want                   string
	}{
		{"as small as promised", "metal", 11e6, 9e6, 54e6, ""},
		{"an agent", "metal", 14e6, 9e6, 30e6, "ferrite-agent: 14.0 MB, promised are less than 14"},
		{"a kernel", "metal", 11e6, 10e6, 30e6, "ramdisk/metal.vmlinuz: 10.0 MB, promised are less than 10"},
		{"a kernel and a ramdisk", "metal", 11e6, 9e6, 56e6,
			"ramdisk/metal.initramfs and ramdisk/metal.vmlinuz: 65.0 MB, promised are less than 64"},
		{"the lab's kernel is as it is", "lab", 11e6, 14e6, 8e6, ""},
		{
			"all of the lab's", "lab", 15e6, 14e6, 14e6,
			"ferrite-agent: 15.0 MB, promised are less than 14\nramdisk/lab.initramfs: 14.0 MB, promised are less than 12",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := t.TempDir()
			if err := os.Mkdir(filepath.Join(bin, "ramdisk"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, size := range map[string]int64{
				"ferrite-agent": tt.agent, "ramdisk/" + tt.profile + ".vmlinuz": tt.kernel,
				"ramdisk/" + tt.profile + ".initramfs": tt.ramdisk,
			} {
				path := filepath.Join(bin, name)
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(path, size); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			if err := keepPromises(bin, tt.profile); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPromisesOfEveryProfile wants promises for the ramdisk of every profile.
func TestPromisesOfEveryProfile(t *testing.T) {
	for _, profile := range []string{profileLab, profileMetal} {
		if len(promises[profile]) == 0 {
			t.Errorf("nothing is promised of the ramdisk %s", profile)
		}
	}
}
