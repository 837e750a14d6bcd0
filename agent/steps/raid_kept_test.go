package steps

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestAKeptVolumeIsNotMadeAgain: target_raid_config names the final volumes, the kept one included.
func TestAKeptVolumeIsNotMadeAgain(t *testing.T) {
	pair := func(x, y string) []any {
		return []any{map[string]any{"name": "/dev/" + x}, map[string]any{"name": "/dev/" + y}}
	}
	n := raidNode(volumeOf("MAX", "volume_name", "data"),
		volumeOf("MAX", "volume_name", "root", "is_root_volume", true, "physical_disks", pair("sdc", "sdd")))
	for _, running := range []bool{true, false} {
		b := newBench(t, "/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
		made, err := b.raid(t, Clean, "create_configuration",
			raidNode(volumeOf("MAX", "volume_name", "data", "physical_disks", pair("sda", "sdb"))), nil)
		if err != nil {
			t.Fatal(err)
		}
		n.RAIDConfig, _ = made.(map[string]any)
		if !running {
			b.arrays = nil // as after a reboot
		}
		before := b.sum(t, "/dev/sda")
		n.Properties = map[string]any{"skip_block_devices": []any{map[string]any{"volume_name": "data"}}}
		result, err := b.raid(t, Clean, "create_configuration", n, nil)
		if err != nil {
			t.Fatal(err)
		}
		expected := on(n.TargetRAIDConfig, []string{"/dev/sda", "/dev/sdb"}, []string{"/dev/sdc", "/dev/sdd"})
		if diff := cmp.Diff(expected, result); diff != "" {
			t.Error(diff)
		}
		if a, runs := b.runningArray("data"); !runs || a.members[0].disk != "/dev/sda" ||
			before != b.sum(t, "/dev/sda") {
			t.Errorf("the volume that is kept is not what it was: %+v", a)
		}
	}
}

// TestAKeptVolumeOnWholeDisks: arrays of another maker may do without partitions. Until raid_config knows their disks,
// they may come from a tenant that wants to keep a disk from being erased: no step succeeds, and none writes to it.
func TestAKeptVolumeOnWholeDisks(t *testing.T) {
	mbr := make([]byte, 512)
	copy(mbr[446:], []byte{0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0}) // from 1 MiB, of 1 MiB
	copy(mbr[510:], "\x55\xaa")
	for content, sector := range map[string][]byte{"nothing": make([]byte, 512), "a partition": mbr} {
		t.Run(content, func(t *testing.T) {
			b := newBench(t, "/dev/sda", "/dev/sdb")
			for number, name := range []string{"/dev/sda", "/dev/sdb"} {
				dev, err := b.Open(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				a := disk.Array{ID: [16]byte{7}, Name: "host:data", Members: 2, Size: 64 * mib}
				err = disk.WriteMember(dev, disk.Part{Size: diskSize}, a, number, bytes.NewReader(make([]byte, 16)))
				_, writeErr := dev.WriteAt(sector, 0)
				if err := errors.Join(err, writeErr, dev.Close()); err != nil {
					t.Fatal(err)
				}
			}
			before := b.sum(t, "/dev/sda")
			n := raidNode(volumeOf("MAX", "volume_name", "root"))
			n.Properties = map[string]any{"skip_block_devices": []any{map[string]any{"volume_name": "data"}}}
			refused := func(step string, err error) {
				if err == nil || !strings.Contains(err.Error(), `/dev/sda: it has a superblock of RAID volume data, `) {
					t.Errorf("%s: %v", step, err)
				}
			}
			for _, known := range []map[string]any{nil,
				on(raidNode(volumeOf("MAX", "volume_name", "data")).TargetRAIDConfig, []string{"/dev/sdb", "/dev/sdc"})} {
				n.RAIDConfig = known
				for _, step := range []string{"erase_devices", "erase_devices_express", "erase_devices_metadata"} {
					_, err := clean(t, b, n, step, nil)
					refused(step, err)
				}
				for _, step := range []string{"delete_configuration", "create_configuration"} {
					_, err := b.raid(t, Clean, step, n, nil)
					refused(step, err)
				}
				_, err := b.RootDisk(t.Context(), n, 0)
				refused("root disk", err)
			}
			n.RAIDConfig = on(raidNode(volumeOf("MAX", "volume_name", "data")).TargetRAIDConfig,
				[]string{"/dev/sda", "/dev/sdb"})
			if _, err := b.raid(t, Clean, "delete_configuration", n, nil); err != nil {
				t.Error(err)
			}
			if _, err := b.raid(t, Clean, "create_configuration", n, nil); err == nil ||
				!strings.Contains(err.Error(), "0 can be used") {
				t.Errorf("RAID over a volume that is kept: %v", err)
			}
			if before != b.sum(t, "/dev/sda") {
				t.Error("a disk with a volume that is kept was written to")
			}
		})
	}
}

// TestADamagedDiskOfAVolume: a volume that is kept is found behind a lost table and a damaged superblock, and a damaged
// superblock of another keeps nothing from being erased or run.
func TestADamagedDiskOfAVolume(t *testing.T) {
	pair := func(x, y string) []any {
		return []any{map[string]any{"name": "/dev/" + x}, map[string]any{"name": "/dev/" + y}}
	}
	for name, tc := range map[string]struct {
		at, size int64 // the lost part
		keep     string
		kept     bool
	}{
		"table lost":                  {0, mib, "data", true},
		"superblock damaged":          {-mib - 8192 + 100, 8, "data", true},
		"superblock damaged, another": {-mib - 8192 + 100, 8, "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
			n := raidNode(volumeOf("MAX", "volume_name", "data", "physical_disks", pair("sda", "sdb")),
				volumeOf("MAX", "volume_name", "root", "is_root_volume", true, "physical_disks", pair("sdc", "sdd")))
			made, err := b.raid(t, Clean, "create_configuration", n, nil)
			if err != nil {
				t.Fatal(err)
			}
			members, err := b.membersOn(t.Context(), b.disk("/dev/sda"))
			if err != nil || len(members) != 1 {
				t.Fatal(members, err)
			}
			if tc.at < 0 {
				p := members[0].part
				tc.at = p.Start + (p.Size-8192)/4096*4096 + 100
			}
			b.spoil(t, "/dev/sda", tc.at, tc.size)
			b.arrays = nil // as after a reboot
			n.RAIDConfig, _ = made.(map[string]any)
			if d, err := b.RootDisk(t.Context(), rootOnly(n), 0); err != nil || d.Name != "/dev/md0" {
				t.Errorf("root disk %+v, %v", d, err)
			}
			before := b.sum(t, "/dev/sda")
			n.Properties = map[string]any{"skip_block_devices": []any{map[string]any{"volume_name": tc.keep}}}
			if _, err := b.raid(t, Clean, "delete_configuration", n, nil); err != nil {
				t.Error(err)
			}
			if kept := before == b.sum(t, "/dev/sda"); kept != tc.kept {
				t.Errorf("kept %v, expected %v", kept, tc.kept)
			}
		})
	}
}

// rootOnly is a node that is known to have its root volume alone.
func rootOnly(n agentapi.CommandNode) agentapi.CommandNode {
	logical, _ := n.RAIDConfig["logical_disks"].([]any)
	n.RAIDConfig = map[string]any{"logical_disks": logical[1:]}
	return n
}

// disk is one of the machine's.
func (b *bench) disk(name string) agentapi.Disk { return agentapi.Disk{Name: name, Size: b.size} }

// spoil overwrites some of a disk.
func (b *bench) spoil(t *testing.T, name string, at, size int64) {
	t.Helper()
	f, err := os.OpenFile(b.files[name], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(bytes.Repeat([]byte{0x5a}, int(size)), at)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
