package disk

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

// TestReadVolume reads volumes made by the file systems' own tools.
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
		{128 * mib, []string{"mkfs.btrfs", "-q", "-L", "a longer label than others have", "-U", id},
			Volume{"btrfs", "a longer label than others have", id}},
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

// TestReadVolumeTakesNoFATForExt: in a FAT the two bytes of ext's magic are the
// number of a cluster, which a file of some size has there.
func TestReadVolumeTakesNoFATForExt(t *testing.T) {
	const size = 64 * mib
	for _, bits := range []string{"16", "32"} {
		path := filepath.Join(t.TempDir(), "disk")
		d, err := disktest.CreateFileTarget(path, size)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		run(t, "", "mkfs.vfat", "-F", bits, "-i", "12AB34CD", path)
		chain := make([]byte, 512) // a file of which each cluster is followed by the next, but for one
		for i := range len(chain) / 2 {
			binary.LittleEndian.PutUint16(chain[2*i:], uint16(257+i))
		}
		alone := make([]byte, 512)
		for _, sector := range [][]byte{alone, chain} {
			copy(sector[56:], "\x53\xef")
			if _, err := d.WriteAt(sector, 1024); err != nil {
				t.Fatal(err)
			}
			got, err := ReadVolume(d, Part{Number: 1, Size: size})
			if diff := cmp.Diff(Volume{"vfat", "", "12AB-34CD"}, got); err != nil || diff != "" {
				t.Errorf("FAT%s: %v %s", bits, err, diff)
			}
		}
	}
}

func TestReadVolumeOfHardlyAnything(t *testing.T) {
	d := newDisk(t, 512, 512)
	copy(d.b, "XFSB")
	if v, err := ReadVolume(d, Part{Number: 3, Size: 100}); err == nil {
		t.Errorf("a superblock that is cut off was read as %+v", v)
	}
}
