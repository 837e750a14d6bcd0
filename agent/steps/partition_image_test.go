package steps

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// rootImage is an image that begins as an ext4 of one UUID does, and is full of
// something behind that.
func rootImage(size int) []byte {
	b := bytes.Repeat([]byte("ROOT"), size/4)
	clear(b[:4096])
	b[1024], b[1024+4], b[1024+32] = 1, 1, 1 // inodes, blocks, blocks of a group
	copy(b[1024+56:], "\x53\xef")
	copy(b[1024+104:], "0123456789abcdef")
	return b
}

const rootUUID = "30313233-3435-3637-3839-616263646566"

// partitionInfo is such an image, served.
func partitionInfo(t *testing.T, size int, change func(*agentapi.ImageInfo)) agentapi.ImageInfo {
	t.Helper()
	info := serve(t, rootImage(size))
	info.ImageType, info.RootMB, info.DeployBootMode = agentapi.PartitionImage, 64, "bios"
	if change != nil {
		change(&info)
	}
	return info
}

// partitionBench is a machine that may run an image's grub-install.
func partitionBench(t *testing.T, size int64) *bench {
	b := newBench(t, "/dev/vda")
	b.size = size
	b.config.EnableBIOSBootloaderInstall = true
	return b
}

func TestPartitionImage(t *testing.T) {
	const large = 1024 * mib
	for _, tc := range []struct {
		name   string
		size   int64
		drive  bool
		change func(*agentapi.ImageInfo)
		roles  map[disk.Role]int
		gpt    bool
	}{
		{"bios", diskSize, false, nil, map[disk.Role]int{disk.RoleRoot: 1}, false},
		{"bios with gpt", diskSize, false, func(i *agentapi.ImageInfo) { i.DiskLabel = "gpt" },
			map[disk.Role]int{disk.RoleBIOSBoot: 1, disk.RoleRoot: 2}, true},
		{"bios with swap and drive", 256 * mib, true, func(i *agentapi.ImageInfo) { i.SwapMB = 16 },
			map[disk.Role]int{disk.RoleSwap: 1, disk.RoleConfigDrive: 2, disk.RoleRoot: 3}, false},
		{"uefi with all", large, true, func(i *agentapi.ImageInfo) {
			i.DeployBootMode, i.DiskLabel, i.SwapMB, i.EphemeralMB = "uefi", "msdos", 16, 256
		}, map[disk.Role]int{disk.RoleESP: 1, disk.RoleEphemeral: 2, disk.RoleSwap: 3, disk.RoleConfigDrive: 4,
			disk.RoleRoot: 5}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := partitionBench(t, tc.size)
			b.fill(t, "/dev/vda")
			p := agentapi.PrepareImageParams{ImageInfo: partitionInfo(t, 8*mib, tc.change)}
			if tc.drive {
				p.ConfigDrive = b64(string(iso(t)))
			}
			if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{}, p); err != nil {
				t.Fatal(err)
			}
			told := b.PartitionUUIDs()
			paths := map[string]string{}
			for role, n := range tc.roles {
				paths[string(role)] = fmt.Sprint("/dev/vda", n)
			}
			want := map[string]any{"root uuid": rootUUID, "efi system partition uuid": nil, "partitions": paths}
			if _, ok := tc.roles[disk.RoleESP]; ok {
				want["efi system partition uuid"] = told["efi system partition uuid"]
				if id := told["efi system partition uuid"]; len(id.(string)) != len("1234-ABCD") {
					t.Errorf("the EFI system partition's UUID is %v", id)
				}
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("get_partition_uuids (-want +got):\n%s", diff)
			}
			b.hasParts(t, tc.roles, tc.gpt)
		})
	}
}

// hasParts checks the contents of the partitions.
func (b *bench) hasParts(t *testing.T, roles map[disk.Role]int, gpt bool) {
	t.Helper()
	dev, err := b.Open(t.Context(), "/dev/vda")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close() // only read from
	table, err := disk.ReadTable(dev)
	if err != nil {
		t.Fatal(err)
	}
	if (table.GPT != nil) != gpt || len(table.Parts()) != len(roles) {
		t.Errorf("the table is a GPT: %t, with %d partitions", table.GPT != nil, len(table.Parts()))
	}
	for _, p := range table.Parts() {
		for _, begins := range []struct {
			role  disk.Role
			at    int64
			bytes string
		}{
			{disk.RoleESP, 71, "efi-part"}, {disk.RoleEphemeral, 1024 + 120, "ephemeral0"}, {disk.RoleSwap, 1052, "swap1"},
			{disk.RoleConfigDrive, 0x8001, "CD001"}, {disk.RoleRoot, 8*mib - 4, "ROOT"},
		} {
			if roles[begins.role] != p.Number {
				continue
			}
			if got := b.read(t, "/dev/vda", p.Start+begins.at, len(begins.bytes)); string(got) != begins.bytes {
				t.Errorf("%s has %q at %d, want %q", begins.role, got, begins.at, begins.bytes)
			}
		}
	}
}

// TestPartitionImageRefused: a wrong request writes nothing.
func TestPartitionImageRefused(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*agentapi.ImageInfo)
		config func(*agentapi.LookupConfig)
		kind   string
		want   string
	}{
		{"image larger than the root", func(i *agentapi.ImageInfo) { i.RootMB = 7 }, nil, "InvalidCommandParamsError",
			"Image virtual size: 8 MB, Root size: 7 MB"},
		{"disk too small", func(i *agentapi.ImageInfo) { i.RootMB = 127 }, nil, "DeviceNotFound", "/dev/vda"},
		{"format", func(i *agentapi.ImageInfo) { i.EphemeralMB, i.EphemeralFormat = 16, "xfs" }, nil, "InvalidImage",
			`ephemeral_format: file system "xfs" cannot be made here, expected one of ext4, vfat`},
		{"less than nothing", func(i *agentapi.ImageInfo) { i.EphemeralMB = -1 }, nil, "InvalidImage", "ephemeral_mb is -1"},
		{"ext4 too small", func(i *agentapi.ImageInfo) { i.EphemeralMB = 16 }, nil, "ImageWriteError",
			"partition 1 for ephemeral: make ext4: the partition has 16777216 bytes, expected 268435456 to"},
		{"vfat too small", func(i *agentapi.ImageInfo) { i.EphemeralMB, i.EphemeralFormat = 16, "vfat" }, nil,
			"ImageWriteError", "partition 1 for ephemeral: make vfat: 16777216 bytes give"},
		{"grub not allowed", nil, func(c *agentapi.LookupConfig) { c.EnableBIOSBootloaderInstall = false }, "InvalidImage",
			"enable_bios_bootloader_install"},
		{"nothing to keep", func(i *agentapi.ImageInfo) { i.EphemeralMB, i.PreserveEphemeral = 16, true }, nil,
			"ImageWriteError", "the partition to be kept is not there"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := partitionBench(t, diskSize)
			b.fill(t, "/dev/vda")
			if tc.config != nil {
				tc.config(&b.config)
			}
			_, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
				agentapi.PrepareImageParams{ImageInfo: partitionInfo(t, 8*mib, tc.change)})
			var failed *agentapi.CommandError
			if !errors.As(err, &failed) || failed.Type != tc.kind || !strings.Contains(failed.Text(), tc.want) {
				t.Errorf("%#v, want %s with %q", err, tc.kind, tc.want)
			}
			if got := b.read(t, "/dev/vda", 0, 4); string(got) != "OLD!" || len(b.PartitionUUIDs()) != 0 {
				t.Errorf("something was written: %q, %v", got, b.PartitionUUIDs())
			}
		})
	}
}

// TestPartitionImageFails: half an image does not boot, and a kept partition is kept.
func TestPartitionImageFails(t *testing.T) {
	for name, info := range map[string]func(*testing.T) agentapi.ImageInfo{
		"wrong sum": func(t *testing.T) agentapi.ImageInfo {
			return partitionInfo(t, 8*mib, func(i *agentapi.ImageInfo) { i.OSHashValue = strings.Repeat("00", 32) })
		},
		"whole disk": func(t *testing.T) agentapi.ImageInfo {
			i := serve(t, gptImage(t))
			i.ImageType, i.RootMB, i.DeployBootMode = agentapi.PartitionImage, 64, "bios"
			return i
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := partitionBench(t, 256*mib)
			broken := info(t)
			if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
				agentapi.PrepareImageParams{ImageInfo: broken}); err == nil {
				t.Fatal("it was taken")
			}
			if got := b.read(t, "/dev/vda", 0, mib); len(bytes.Trim(got, "\x00")) != 0 {
				t.Error("the disk has a partition table")
			}
			good := partitionInfo(t, 8*mib, func(i *agentapi.ImageInfo) { i.EphemeralMB, i.EphemeralFormat = 40, "vfat" })
			if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
				agentapi.PrepareImageParams{ImageInfo: good}); err != nil {
				t.Fatal(err)
			}
			b.write(t, "/dev/vda", 20*mib, "precious")
			broken.EphemeralMB, broken.EphemeralFormat, broken.PreserveEphemeral = 40, "vfat", true
			if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
				agentapi.PrepareImageParams{ImageInfo: broken}); err == nil {
				t.Fatal("it was taken")
			}
			if got := b.read(t, "/dev/vda", 41*mib, mib); len(bytes.Trim(got, "\x00")) != 0 {
				t.Error("the root begins with half an image")
			}
			good.PreserveEphemeral = true
			if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
				agentapi.PrepareImageParams{ImageInfo: good}); err != nil {
				t.Fatal(err)
			}
			if got := b.read(t, "/dev/vda", 20*mib, 8); string(got) != "precious" {
				t.Errorf("it was not kept: %q", got)
			}
		})
	}
}

// write puts bytes somewhere on a disk.
func (b *bench) write(t *testing.T, name string, off int64, text string) {
	t.Helper()
	f, err := os.OpenFile(b.files[name], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(text), off)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// efiTree is a folder with an image's files, and an empty one.
func efiTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
