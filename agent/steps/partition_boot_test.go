package steps

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// partitioned is a machine onto which a partition image was written, with folders as file systems.
func partitioned(t *testing.T, uefi, allowed bool, root map[string]string) (b *bench, rootTree, espTree string) {
	t.Helper()
	b = partitionBench(t, 1024*mib)
	b.uefi = uefi
	info := partitionInfo(t, 8*mib, func(i *agentapi.ImageInfo) { i.DeployBootMode = bootMode(uefi) })
	if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
		agentapi.PrepareImageParams{ImageInfo: info}); err != nil {
		t.Fatal(err)
	}
	b.config.EnableBIOSBootloaderInstall = allowed
	rootTree, espTree = efiTree(t, root), efiTree(t, nil)
	b.trees["/dev/vda1"], b.trees["/dev/vda2"] = espTree, rootTree
	if !uefi {
		b.trees["/dev/vda1"] = rootTree
	}
	return b, rootTree, espTree
}

func bootMode(uefi bool) string {
	if uefi {
		return "uefi"
	}
	return "bios"
}

// grubFiles are the programs an image has.
func grubFiles(name string) map[string]string {
	return map[string]string{"usr/sbin/" + name + "-install": "#!", "usr/sbin/" + name + "-mkconfig": "#!"}
}

func with(files map[string]string, more ...string) map[string]string {
	all := map[string]string{}
	for k, v := range files {
		all[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// TestBootPartitionImage: the programs that run and the files that are copied, by the image's contents and the
// conductor's permission. The firmware finds no loader in the end, since the folder of the copies is not the disk.
func TestBootPartitionImage(t *testing.T) {
	shim := map[string]string{
		"boot/efi/EFI/redhat/shimx64.efi": "shim", "boot/efi/EFI/BOOT/BOOTX64.EFI": "fallback",
		"boot/grub2/grub.cfg": "config", "etc/fstab": "/dev/x / ext4",
	}
	const noLoader = "no boot loader on the EFI system partition"
	for _, tc := range []struct {
		name    string
		uefi    bool
		allowed bool
		image   map[string]string
		ran     []string
		esp     []string
		want    string // of the error
	}{
		{"EFI files are copied", true, false, shim, nil, []string{"EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/grub.cfg",
			"EFI/redhat/grub.cfg", "EFI/redhat/shimx64.efi"}, noLoader},
		{
			"and GRUB configured anew", true, true, with(shim, "usr/sbin/grub2-install", "", "usr/sbin/grub2-mkconfig", ""),
			[]string{"mount /dev/vda2 ext4 / as " + rootUUID, "/usr/sbin/grub2-mkconfig -o /boot/grub2/grub.cfg"},
			[]string{"EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/grub.cfg", "EFI/redhat/grub.cfg", "EFI/redhat/shimx64.efi"}, noLoader,
		},
		{"of an image with a UKI", true, false, map[string]string{"efi/EFI/Linux/x.efi": "uki"}, nil,
			[]string{"EFI/Linux/x.efi"}, noLoader},
		{"nothing to boot", true, true, map[string]string{"etc/fstab": ""}, nil, nil,
			"has nothing to boot by UEFI: expected EFI files in one of /boot/efi, /efi, /boot, or grub-install"},
		{"GRUB for UEFI, not allowed", true, false, grubFiles("grub"), nil, nil, "enable_bios_bootloader_install"},
		{
			"GRUB for UEFI", true, true, grubFiles("grub"),
			[]string{
				"mount /dev/vda2 ext4 / as " + rootUUID, "mount /dev/vda1 vfat /boot/efi as ESP",
				"/usr/sbin/grub-install --target=x86_64-efi --efi-directory=/boot/efi --no-nvram",
				"/usr/sbin/grub-install --target=x86_64-efi --efi-directory=/boot/efi --no-nvram --removable",
				"/usr/sbin/grub-mkconfig -o /boot/grub/grub.cfg",
			}, nil, noLoader,
		},
		{
			"GRUB for BIOS", false, true, grubFiles("grub2"),
			[]string{"mount /dev/vda1 ext4 / as " + rootUUID, "/usr/sbin/grub2-install --target=i386-pc /dev/vda",
				"/usr/sbin/grub2-mkconfig -o /boot/grub2/grub.cfg"}, nil, "",
		},
		{"GRUB for BIOS, not allowed", false, false, grubFiles("grub"), nil, nil, "enable_bios_bootloader_install"},
		{"no GRUB for BIOS", false, true, nil, nil, nil, "has no grub-install and grub-mkconfig"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, root, esp := partitioned(t, tc.uefi, tc.allowed, tc.image)
			espUUID, _ := b.PartitionUUIDs()["efi system partition uuid"].(string)
			p := agentapi.BootloaderParams{RootUUID: rootUUID, EFISystemPartUUID: espUUID, TargetBootMode: bootMode(tc.uefi)}
			err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, p)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			for i, ran := range b.ran { // its UUID is random
				b.ran[i] = strings.Replace(ran, "efi as "+espUUID, "efi as ESP", 1)
			}
			if diff := cmp.Diff(tc.ran, b.ran); diff != "" {
				t.Errorf("what ran (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.esp, filesIn(t, esp)); diff != "" {
				t.Errorf("on the EFI system partition (-want +got):\n%s", diff)
			}
			if tc.image["etc/fstab"] == "" || tc.esp == nil {
				return
			}
			fstab, err := os.ReadFile(filepath.Join(root, "etc/fstab"))
			if want := "/dev/x / ext4\nUUID=" + p.EFISystemPartUUID + "\t/boot/efi\tvfat\tumask=0077\t0\t1\n"; err != nil ||
				string(fstab) != want {
				t.Errorf("fstab is %q, want %q", fstab, want)
			}
			p.IgnoreBootloaderError = true
			if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, p); err != nil {
				t.Errorf("a failure that is to be ignored: %v", err)
			}
			if again, err := os.ReadFile(filepath.Join(root, "etc/fstab")); err != nil || string(again) != string(fstab) {
				t.Errorf("fstab grew: %q", again)
			}
		})
	}
}

// filesIn lists the contents of a folder and below.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path) // path is below dir
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestImageProgramFails: the output of an image's program is in the error.
func TestImageProgramFails(t *testing.T) {
	b, _, _ := partitioned(t, false, true, grubFiles("grub"))
	b.grub = func([]string) (string, error) {
		return "", errors.New("grub-install: exit status 1: embedding is not possible")
	}
	err := b.InstallBootloader(t.Context(), agentapi.CommandNode{},
		agentapi.BootloaderParams{RootUUID: rootUUID, TargetBootMode: "bios"})
	if err == nil || !strings.Contains(err.Error(), "the image's own grub-install: exit status 1: "+
		"embedding is not possible") {
		t.Error(err)
	}
}

// TestRootNotFound: a root that is nowhere is said to be, and where it was
// looked for.
func TestRootNotFound(t *testing.T) {
	b, _, _ := partitioned(t, true, false, nil)
	err := b.InstallBootloader(t.Context(), agentapi.CommandNode{},
		agentapi.BootloaderParams{RootUUID: "another", TargetBootMode: "uefi"})
	if err == nil || !strings.Contains(err.Error(), "no partition of /dev/vda has the UUID another; "+
		"there are /dev/vda1 (vfat, label \"efi-part\"), /dev/vda2 (ext4)") {
		t.Error(err)
	}
}

// TestRootTwice: of a kept ephemeral partition that holds a copy of the image nothing
// is run or taken.
func TestRootTwice(t *testing.T) {
	b := partitionBench(t, 1024*mib)
	info := partitionInfo(t, 8*mib, func(i *agentapi.ImageInfo) { i.DeployBootMode, i.EphemeralMB = "uefi", 256 })
	install := func() {
		t.Helper()
		if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
			agentapi.PrepareImageParams{ImageInfo: info}); err != nil {
			t.Fatal(err)
		}
	}
	install()
	raw, err := os.OpenFile(b.files["/dev/vda"], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.WriteAt(rootImage(4096), 551*mib); err != nil { // where the ephemeral partition begins
		t.Fatal(err)
	}
	info.PreserveEphemeral = true
	install()
	b.trees["/dev/vda2"] = efiTree(t, map[string]string{"boot/efi/EFI/BOOT/BOOTX64.EFI": "another's"})
	err = b.InstallBootloader(t.Context(), agentapi.CommandNode{},
		agentapi.BootloaderParams{RootUUID: rootUUID, TargetBootMode: "uefi"})
	if err == nil || !strings.Contains(err.Error(), "/dev/vda2 (ext4), /dev/vda3 (ext4) have the same UUID "+rootUUID) ||
		len(b.mounted) != 0 {
		t.Errorf("%v, mounted %v", err, b.mounted)
	}
}

// TestLoaderIsThere: a system that has put its loader onto the EFI system
// partition itself is left alone, and gets its entry.
func TestLoaderIsThere(t *testing.T) {
	b, _, _ := partitioned(t, true, false, nil)
	b.addLoader(t)
	if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{},
		agentapi.BootloaderParams{RootUUID: rootUUID, TargetBootMode: "uefi"}); err != nil {
		t.Fatal(err)
	}
	if len(b.mounted) != 0 || len(b.vars["BootOrder"]) != 2 {
		t.Errorf("mounted %v, BootOrder %x", b.mounted, b.vars["BootOrder"])
	}
	entry := string(utf16.Decode(words(b.vars["Boot0000"])))
	if !strings.Contains(entry, `\EFI\BOOT\BOOTX64.EFI`) {
		t.Errorf("Boot0000 is %q", entry)
	}
}

func words(b []byte) (all []uint16) {
	for ; len(b) >= 2; b = b[2:] {
		all = append(all, binary.LittleEndian.Uint16(b))
	}
	return all
}

// addLoader puts a loader onto the EFI system partition, by mtools.
func (b *bench) addLoader(t *testing.T) {
	t.Helper()
	efi := filepath.Join(t.TempDir(), "BOOTX64.EFI")
	if err := os.WriteFile(efi, []byte("MZ"), 0o600); err != nil {
		t.Fatal(err)
	}
	image := b.files["/dev/vda"] + "@@1M"
	mtools(t, "mmd", "-i", image, "::EFI", "::EFI/BOOT")
	mtools(t, "mcopy", "-i", image, efi, "::EFI/BOOT/BOOTX64.EFI")
}

func mtools(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "MTOOLS_SKIP_CHECK=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
