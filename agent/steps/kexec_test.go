package steps

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// linuxKernel is the header of a kernel that takes a command line of 2047 bytes
// (Documentation/arch/x86/boot.rst).
func linuxKernel() []byte {
	b := make([]byte, 0x300)
	copy(b[0x202:], "HdrS\x0f\x02")
	copy(b[0x238:], "\xff\x07")
	return b
}

// bootsSyslinux is a machine with a disk that a BIOS boots, by syslinux on its only
// partition.
func bootsSyslinux(t *testing.T) *bench {
	t.Helper()
	const first = 2048
	b := newBench(t, "/dev/vda")
	image := make([]byte, first*512+512)           // the rest of the disk is empty
	copy(image[446:], []byte{0x80, 0, 0, 0, 0x0c}) // active, FAT32
	binary.LittleEndian.PutUint32(image[446+8:], first)
	binary.LittleEndian.PutUint32(image[446+12:], 64*mib/512)
	copy(image[510:], "\x55\xaa")
	copy(image[first*512:], "\xeb\x58\x90SYSLINUX")
	copy(image[first*512+82:], "FAT32   ")
	f, err := os.OpenFile(b.files["/dev/vda"], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(image, 0)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	b.trees["/dev/vda1"] = folder
	for name, text := range map[string]string{
		"syslinux.cfg": "DEFAULT l\nLABEL l\nKERNEL /vmlinuz\nINITRD /a,/b\nAPPEND root=x\n",
		"vmlinuz":      string(linuxKernel()), "a": "AAAAA", "b": "B",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Root = fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal: 9 kB\nMemAvailable:      64 kB\n")}}
	b.setWritten(&written{device: "/dev/vda"})
	return b
}

func TestLoadInstalled(t *testing.T) {
	b := bootsSyslinux(t)
	before := b.sum(t, "/dev/vda")
	got, err := b.LoadInstalled(t.Context(), agentapi.KexecParams{TargetBootMode: "bios"})
	if err != nil {
		t.Fatal(err)
	}
	const line = "BOOT_IMAGE=/vmlinuz root=x initrd=/a,/b"
	want := agentapi.Kexec{Source: "syslinux", Entry: "l", Kernel: "/vmlinuz", Initrd: []string{"/a", "/b"},
		CommandLine: line}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Each initial ramdisk is filled up to four bytes.
	loaded := []loadedKernel{{linuxKernel(), []byte("AAAAA\x00\x00\x00B\x00\x00\x00"), line}}
	if diff := cmp.Diff(loaded, b.loaded, cmp.AllowUnexported(loadedKernel{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/dev/vda1 vfat true"}, b.mounted); diff != "" {
		t.Error(diff)
	}
	if b.sum(t, "/dev/vda") != before {
		t.Error("the disk has changed")
	}
}

func TestLoadInstalledRefusals(t *testing.T) {
	tests := map[string]struct {
		change  func(*bench)
		mode    string
		refusal string
	}{
		"other firmware":  {func(*bench) {}, "uefi", "is to boot by uefi, and runs by bios"},
		"nothing written": {func(b *bench) { b.setWritten(nil) }, "", "no image was written"},
		"software RAID": {func(b *bench) { b.arrays = []array{{Array: disk.Array{Name: "os"}, device: "/dev/vda"}} }, "",
			"/dev/vda is the software RAID os"},
		"no file system": {func(b *bench) { delete(b.trees, "/dev/vda1") }, "",
			"/dev/vda: partition 1 (vfat): mount /dev/vda1: bad superblock"},
		"little memory": {func(b *bench) {
			b.Root = fstest.MapFS{"proc/meminfo": {Data: []byte("MemAvailable: 2 kB\n")}}
		}, "",
			"MB free"},
		"kernel refused": {func(b *bench) { b.broken = errors.New("no signature") }, "bios", `entry "l": no signature`},
		"no EFI loader":  {func(b *bench) { b.uefi = true }, "uefi", "/dev/vda: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := bootsSyslinux(t)
			tt.change(b)
			got, err := b.LoadInstalled(t.Context(), agentapi.KexecParams{TargetBootMode: tt.mode})
			var ce *agentapi.CommandError
			if !errors.As(err, &ce) || !strings.Contains(ce.Details, tt.refusal) {
				t.Errorf("%+v, error %v, want %q", got, err, tt.refusal)
			}
		})
	}
}

func TestLoaderChoices(t *testing.T) {
	const systemd = "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
	b := newBench(t)
	b.Root = fstest.MapFS{
		"sys/firmware/efi/efivars/LoaderEntryOneShot" + systemd: {}, "sys/firmware/efi/efivars/LoaderInfo" + systemd: {},
		"sys/firmware/efi/efivars/BootNext-8be4df61-93ca-11d2-aa0d-00e098032b8c": {},
		"sys/firmware/dmi/tables/DMI": {
			Data: []byte("io.systemd.stub.kernel-cmdline-extra=single\x00"),
		},
	}
	want := []string{"the EFI variable LoaderEntryOneShot", "the EFI variable BootNext",
		"strings for systemd (SMBIOS type 11)"}
	if diff := cmp.Diff(want, b.loaderChoices()); diff != "" {
		t.Error(diff)
	}
}
