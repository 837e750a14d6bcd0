package steps

import (
	"bytes"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// volumeOf is a logical disk in target_raid_config's form.
func volumeOf(size any, more ...any) map[string]any {
	v := map[string]any{"controller": "software", "raid_level": "1", "size_gb": size}
	for i := 0; i+1 < len(more); i += 2 {
		v[more[i].(string)] = more[i+1]
	}
	return v
}

func raidNode(disks ...any) agentapi.CommandNode {
	return agentapi.CommandNode{UUID: "u", TargetRAIDConfig: map[string]any{"logical_disks": disks}}
}

// on is a configuration as it is reported, of volumes on disks.
func on(config map[string]any, disks ...[]string) map[string]any {
	var list []any
	for i, volume := range config["logical_disks"].([]any) {
		entry := maps.Clone(volume.(map[string]any))
		var members []string
		for _, d := range disks[i] {
			members = append(members, "S-"+d)
		}
		entry["member_disks"] = members
		list = append(list, entry)
	}
	return map[string]any{"logical_disks": list}
}

// raid runs a step of interface raid.
func (b *bench) raid(t *testing.T, kind Kind, step string, n agentapi.CommandNode, args map[string]any) (any, error) {
	t.Helper()
	return Execute(t.Context(), b.Machine, kind,
		Request{Step: agentapi.Step{Interface: "raid", Step: step, Args: args}, Node: n})
}

func TestCreateConfiguration(t *testing.T) {
	b := newBench(t, "/dev/sda", "/dev/sdb", "/dev/sdc")
	n := raidNode(volumeOf("MAX", "is_root_volume", true, "volume_name", "root", "physical_disks", []any{
		map[string]any{"serial": "S-/dev/sdc"}, map[string]any{"size": ">= 0"},
	}))
	result, err := b.raid(t, Clean, "create_configuration", n, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(on(n.TargetRAIDConfig, []string{"/dev/sdc", "/dev/sda"}), result); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"md0 /dev/sdc2 /dev/sda2"}, b.ran); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(b.read(t, "/dev/sdb", 0, 4096), make([]byte, 4096)) {
		t.Error("a disk that was not asked for was written to")
	}
	n = agentapi.CommandNode{RAIDConfig: result.(map[string]any)}
	const size = diskSize - 9*mib - mib // minus the table, and a member's own end
	for _, started := range []string{"in the same boot", "anew"} {
		root, err := b.RootDisk(t.Context(), n, 0)
		if err != nil || root.Name != "/dev/md0" || root.Size != size {
			t.Errorf("%s: root disk %+v, %v", started, root, err)
		}
		b.arrays = nil // as after a reboot
	}
	if len(b.ran) != 2 || b.ran[1] != b.ran[0] {
		t.Errorf("arrays run: %q", b.ran)
	}
}

func TestRAIDIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	two := []any{map[string]any{"name": "/dev/sda"}, map[string]any{"name": "/dev/sdb"}}
	for name, tc := range map[string]struct {
		disks []any
		text  string
	}{
		"nothing":         {nil, "at least one logical disk"},
		"hardware":        {[]any{volumeOf("MAX", "controller", "RAID.Integrated.1-1")}, "software RAID only"},
		"one of them":     {[]any{volumeOf(1.0), volumeOf("MAX", "controller", "")}, "logical disk 1"},
		"level 5":         {[]any{volumeOf("MAX", "raid_level", "5")}, "RAID 1 only"},
		"level as number": {[]any{volumeOf("MAX", "raid_level", 1.0)}, "raid_level"},
		"no size":         {[]any{volumeOf(nil)}, "size_gb"},
		"half a GiB":      {[]any{volumeOf(0.5)}, "whole number"},
		"one disk":        {[]any{volumeOf("MAX", "physical_disks", two[:1])}, "at least 2"},
		"disks by number": {[]any{volumeOf("MAX", "physical_disks", 2.0)}, "physical_disks"},
		"disk type":       {[]any{volumeOf("MAX", "disk_type", "ssd")}, `"disk_type"`},
		"no such disk": {[]any{volumeOf("MAX", "physical_disks", []any{two[0], map[string]any{"name": "/dev/sdx"}})},
			"no disk left"},
		"the same twice": {[]any{volumeOf("MAX", "physical_disks", []any{two[0], two[0]})}, "no disk left"},
		"unknown hint": {[]any{volumeOf("MAX", "physical_disks", []any{two[0], map[string]any{"colour": "red"}})},
			"colour"},
		"too large":        {[]any{volumeOf(1.0)}, "no room"},
		"everything twice": {[]any{volumeOf("MAX"), volumeOf("MAX")}, "nothing is left"},
		"one name": {[]any{volumeOf("MAX", "volume_name", "a"), volumeOf("MAX", "volume_name", "a")},
			"another's too"},
		"two roots": {[]any{volumeOf("MAX", "is_root_volume", true), volumeOf("MAX", "is_root_volume", true)},
			"only one logical disk"},
		"long name":       {[]any{volumeOf("MAX", "volume_name", strings.Repeat("x", 33))}, "32 bytes"},
		"name of a host":  {[]any{volumeOf("MAX", "volume_name", "host:data")}, "volume_name"},
		"name with a NUL": {[]any{volumeOf("MAX", "volume_name", "a\x00b")}, "volume_name"},
		"any disk":        {[]any{volumeOf("MAX", "physical_disks", []any{two[0], map[string]any{}})}, "no hints"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []Kind{Clean, Deploy} {
				b := newBench(t, "/dev/sda", "/dev/sdb")
				b.fill(t, "/dev/sda")
				b.fill(t, "/dev/sdb")
				var err error
				if kind == Clean {
					_, err = b.raid(t, Clean, "create_configuration", raidNode(tc.disks...), nil)
				} else {
					_, err = b.raid(t, Deploy, "apply_configuration", agentapi.CommandNode{},
						map[string]any{"raid_config": map[string]any{"logical_disks": tc.disks}})
				}
				var ce *agentapi.CommandError
				if !errors.As(err, &ce) || ce.Type != "SoftwareRAIDError" || !strings.Contains(ce.Details, tc.text) {
					t.Fatalf("%s: %#v", kind, err)
				}
				for _, d := range []string{"/dev/sda", "/dev/sdb"} {
					if !bytes.HasPrefix(b.read(t, d, 0, 4), []byte("OLD!")) || len(b.ran) > 0 {
						t.Errorf("%s was touched, arrays %q", d, b.ran)
					}
				}
			}
		})
	}
}

func TestRAIDNeedsEmptyDisks(t *testing.T) {
	b := newBench(t, "/dev/sda", "/dev/sdb")
	if _, err := b.raid(t, Clean, "create_configuration", raidNode(volumeOf("MAX")), nil); err != nil {
		t.Fatal(err)
	}
	b.arrays = nil
	if _, err := b.raid(t, Clean, "create_configuration", raidNode(volumeOf("MAX")), nil); err == nil ||
		!strings.Contains(err.Error(), "delete_configuration") {
		t.Errorf("RAID on RAID: %v", err)
	}
	apply := map[string]any{"raid_config": map[string]any{"logical_disks": []any{volumeOf("MAX", "volume_name", "new")}}}
	apply["delete_existing"] = false
	if _, err := b.raid(t, Deploy, "apply_configuration", agentapi.CommandNode{}, apply); err == nil ||
		!strings.Contains(err.Error(), "RAID is on it already") {
		t.Errorf("existing RAID was not to be deleted: %v", err)
	}
	delete(apply, "delete_existing")
	result, err := b.raid(t, Deploy, "apply_configuration", agentapi.CommandNode{}, apply)
	if err != nil || result.(map[string]any)["logical_disks"].([]any)[0].(map[string]any)["volume_name"] != "new" {
		t.Errorf("%v, %v", result, err)
	}
	if last := b.progress[len(b.progress)-1]; last.Step != "apply_configuration" || last.Stage != "/dev/sdb" {
		t.Errorf("progress %+v", last)
	}
}

// TestPartitionsAreNoRAID: the permission to delete RAID does not extend to other partitions.
func TestPartitionsAreNoRAID(t *testing.T) {
	b := installed(t)
	b.files["/dev/sda"] = filepath.Join(t.TempDir(), "disk")
	args := map[string]any{"raid_config": map[string]any{"logical_disks": []any{volumeOf("MAX")}}}
	if _, err := b.raid(t, Deploy, "apply_configuration", agentapi.CommandNode{}, args); err == nil ||
		!strings.Contains(err.Error(), "it has 3 partitions") {
		t.Errorf("error %v", err)
	}
}

// TestSharedFileSystemsAreFoundFirst: a disk that must not be lost is refused
// before another is divided.
func TestSharedFileSystemsAreFoundFirst(t *testing.T) {
	b := newBench(t, "/dev/sda", "/dev/sdb")
	dev, err := b.Open(t.Context(), "/dev/sdb")
	if err != nil {
		t.Fatal(err)
	}
	gfs2 := make([]byte, 512)
	copy(gfs2, "\x01\x16\x19\x70")
	_, err = dev.WriteAt(gfs2, 64<<10)
	if err := errors.Join(err, dev.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.raid(t, Clean, "create_configuration", raidNode(volumeOf("MAX")), nil); err == nil ||
		!strings.Contains(err.Error(), "gfs2") {
		t.Errorf("%v", err)
	}
	if !bytes.Equal(b.read(t, "/dev/sda", 0, mib), make([]byte, mib)) {
		t.Error("the other disk was divided before")
	}
}

func TestDeleteConfiguration(t *testing.T) {
	b := newBench(t, "/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd", "/dev/sde")
	pair := func(x, y string) []any {
		return []any{map[string]any{"name": "/dev/" + x}, map[string]any{"name": "/dev/" + y}}
	}
	n := raidNode(volumeOf("MAX", "volume_name", "root", "physical_disks", pair("sda", "sdb")),
		volumeOf("MAX", "volume_name", "data", "physical_disks", pair("sdc", "sdd")))
	made, err := b.raid(t, Clean, "create_configuration", n, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.RAIDConfig, _ = made.(map[string]any)
	b.fill(t, "/dev/sde") // no RAID, so none of this step's business
	n.Properties = map[string]any{"skip_block_devices": []any{map[string]any{"volume_name": "data"}}}
	if result, err := b.raid(t, Clean, "delete_configuration", n, nil); err != nil || result != nil {
		t.Fatal(result, err)
	}
	if !slices.Contains(b.ran, "stop /dev/md0") || slices.Contains(b.ran, "stop /dev/md1") {
		t.Errorf("arrays %q", b.ran)
	}
	for d, want := range map[string]bool{"/dev/sda": true, "/dev/sdb": true, "/dev/sdc": false, "/dev/sdd": false,
		"/dev/sde": false} {
		if got := bytes.Equal(b.read(t, d, 0, mib), make([]byte, mib)); got != want {
			t.Errorf("%s wiped: %v", d, got)
		}
	}
	again := raidNode(volumeOf("MAX", "volume_name", "other"))
	again.RAIDConfig = n.RAIDConfig
	again.Properties = map[string]any{"skip_block_devices": []any{map[string]any{"volume_name": "data"},
		map[string]any{"name": "/dev/sde"}}}
	if _, err := b.raid(t, Clean, "create_configuration", again, nil); err != nil {
		t.Fatal(err)
	}
	if last := b.ran[len(b.ran)-1]; last != "md0 /dev/sda2 /dev/sdb2" {
		t.Errorf("arrays %q", b.ran)
	}
}

// TestVolumesThatCannotBeTrusted: nothing is installed onto half a mirror, or
// onto a disk that belongs to one.
func TestVolumesThatCannotBeTrusted(t *testing.T) {
	b := newBench(t, "/dev/sda", "/dev/sdb")
	result, err := b.raid(t, Clean, "create_configuration", raidNode(volumeOf("MAX", "is_root_volume", true)), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := agentapi.CommandNode{RAIDConfig: result.(map[string]any)}
	b.arrays = nil
	b.broken = errors.New("RUN_ARRAY on /dev/md0: input/output error")
	if d, err := b.RootDisk(t.Context(), n, 0); err == nil || !strings.Contains(err.Error(), "RUN_ARRAY") {
		t.Errorf("root disk %+v, %v", d, err)
	}
	b.broken = nil
	dev, err := b.Open(t.Context(), "/dev/sdb")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := disk.WipeMetadata(t.Context(), dev); err != nil {
		t.Fatal(err)
	}
	if d, err := b.RootDisk(t.Context(), n, 0); !errors.Is(err, rootdevice.ErrNoDisk) ||
		!strings.Contains(err.Error(), "1 of its 2 members") {
		t.Errorf("root disk %+v, %v", d, err)
	}
}

func TestHintsChooseADiskBesideADataVolume(t *testing.T) {
	b := newBench(t, "/dev/sda", "/dev/sdb", "/dev/sdc")
	pair := []any{map[string]any{"name": "/dev/sda"}, map[string]any{"name": "/dev/sdb"}}
	result, err := b.raid(t, Clean, "create_configuration",
		raidNode(volumeOf("MAX", "is_root_volume", false, "physical_disks", pair)), nil)
	if err != nil {
		t.Fatal(err)
	}
	disks := b.Disks
	b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) { // as sysfs shows it while the array runs
		all, _ := disks()
		return all[2:], []agentapi.SkippedDisk{{Name: "/dev/sda", Reason: "member of md0"},
			{Name: "/dev/sdb", Reason: "member of md0"}}
	}
	d, err := b.RootDisk(t.Context(), agentapi.CommandNode{RAIDConfig: result.(map[string]any)}, 0)
	if err != nil || d.Name != "/dev/sdc" {
		t.Errorf("root disk %+v, %v", d, err)
	}
}

// TestBIOSBootsAnArray: of a partition image GRUB is installed onto each disk of the
// array, where there is room for it.
func TestBIOSBootsAnArray(t *testing.T) {
	for _, tc := range []struct {
		name    string
		divided bool // when the machine was started by UEFI
		ran     []string
		want    string // of the error
	}{
		{"divided by BIOS", false, []string{
			"mount /dev/md0p1 ext4 / as " + rootUUID,
			"/usr/sbin/grub-install --target=i386-pc /dev/sda", "/usr/sbin/grub-install --target=i386-pc /dev/sdb",
			"/usr/sbin/grub-mkconfig -o /boot/grub/grub.cfg",
		}, ""},
		{"divided by UEFI", true, nil, "make /dev/sda of array md0 bootable: it has no BIOS boot partition"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, "/dev/sda", "/dev/sdb")
			b.uefi, b.size, b.config.EnableBIOSBootloaderInstall = tc.divided, 1024*mib, true
			result, err := b.raid(t, Clean, "create_configuration", raidNode(volumeOf("MAX", "is_root_volume", true)), nil)
			if err != nil {
				t.Fatal(err)
			}
			b.ran, b.files["/dev/md0"] = nil, filepath.Join(t.TempDir(), "array")
			n := agentapi.CommandNode{RAIDConfig: result.(map[string]any)}
			if _, err := b.PrepareImage(t.Context(), n,
				agentapi.PrepareImageParams{ImageInfo: partitionInfo(t, 8*mib, nil)}); err != nil {
				t.Fatal(err)
			}
			b.trees["/dev/md0p1"] = efiTree(t, grubFiles("grub"))
			err = b.InstallBootloader(t.Context(), n, agentapi.BootloaderParams{RootUUID: rootUUID, TargetBootMode: "bios"})
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if diff := cmp.Diff(tc.ran, b.ran); diff != "" {
				t.Errorf("what ran (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBIOSCannotBootAnArray: an image of a whole disk has its boot code where the
// array begins, which is not where a disk does.
func TestBIOSCannotBootAnArray(t *testing.T) {
	b := newBench(t)
	b.arrays = []array{{device: "/dev/md0"}}
	b.setWritten(&written{device: "/dev/md0"})
	p := agentapi.BootloaderParams{TargetBootMode: "bios", RootUUID: agentapi.NoRootUUID}
	if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, p); err == nil ||
		!strings.Contains(err.Error(), "image_rootfs_uuid") {
		t.Errorf("a BIOS was said to boot an array of partitions: %v", err)
	}
	p.IgnoreBootloaderError = true
	if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, p); err != nil {
		t.Error(err)
	}
}

// TestPlanRAID: volumes of a size come first on their disks, and the least
// disk counts.
func TestPlanRAID(t *testing.T) {
	const gib = 1 << 30
	logical, err := raidConfig(map[string]any{"logical_disks": []any{volumeOf("MAX", "volume_name", "data"),
		volumeOf(10.0, "volume_name", "root")}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := planRAID(logical, []agentapi.Disk{{Name: "/dev/a", Size: 40 * gib},
		{Name: "/dev/b", Size: 30*gib + 12345}}, true)
	if err != nil {
		t.Fatal(err)
	}
	const rest = 30*gib - 552*mib - (10*gib + mib) - mib
	for _, d := range plan.disks {
		role := map[string]int{"/dev/a": 0, "/dev/b": 1}[d.Name]
		want := []memberPart{{1, role, 10*gib + mib}, {0, role, rest + mib}}
		if diff := cmp.Diff(want, d.members, cmp.AllowUnexported(memberPart{})); diff != "" {
			t.Errorf("%s: %s", d.Name, diff)
		}
	}
	if diff := cmp.Diff([]int64{rest, 10 * gib}, plan.sizes); diff != "" {
		t.Error(diff)
	}
}
