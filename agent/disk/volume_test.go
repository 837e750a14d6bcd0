package disk

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

// TestReadVolume lets the file systems' own tools make what is read.
func TestReadVolume(t *testing.T) {
	const id = "a1b2c3d4-0102-4304-8506-0708090a0b0c"
	for _, tc := range []struct {
		size int64
		make []string
		want Volume
	}{
		{4 * mib, []string{"mkfs.ext4", "-q", "-F", "-L", "cloudimg-root", "-U", id}, Volume{"ext4", "cloudimg-root", id}},
		{64 * mib, []string{"mkfs.vfat", "-F", "32", "-n", "UEFI", "-i", "12AB34CD"}, Volume{"vfat", "UEFI", "12AB-34CD"}},
		{16 * mib, []string{"mkfs.vfat", "-F", "16", "-i", "0000000F"}, Volume{"vfat", "", "0000-000F"}},
		{300 * mib, []string{"mkfs.xfs", "-q", "-L", "data", "-m", "uuid=" + id}, Volume{"xfs", "data", id}},
		{128 * mib, []string{"mkfs.btrfs", "-q", "-L", "a longer label than others have", "-U", id}, Volume{"btrfs", "a longer label than others have", id}},
		{mib, nil, Volume{}},
	} {
		t.Run(fmt.Sprint(tc.want.Kind, tc.size), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "disk")
			d, err := disktest.CreateFileTarget(path, tc.size)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if tc.make != nil {
				run(t, "", tc.make[0], append(tc.make[1:], path)...)
			}
			got, err := ReadVolume(d, Part{Number: 1, Size: tc.size})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadVolumeOfHardlyAnything(t *testing.T) {
	d := newDisk(512, 512)
	copy(d.b, "XFSB")
	if v, err := ReadVolume(d, Part{Number: 3, Size: 100}); err == nil {
		t.Errorf("a superblock that is cut off was read as %+v", v)
	}
}
