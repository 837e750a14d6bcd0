//go:build e2e

package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestMain lets this program stand for an image's programs: it is static, and reports its environment.
func TestMain(m *testing.M) {
	if err := sys.Inside(os.Args); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if name := filepath.Base(os.Args[0]); strings.HasPrefix(name, "grub-") {
		if err := imageProgram(name); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// seen is the environment of an image's program.
type seen struct {
	Args   []string
	Env    []string
	Mounts []string
	Cards  []string
	PID    int
	Disk   string   // the first bytes of the disk it was given
	Root   string   // the device with the root's UUID
	Others []string // processes beside itself
	Ways   []string // that lead out of its root
}

// imageProgram is a program of an image: it writes down its environment and, where GRUB would, puts a loader onto the
// EFI system partition.
func imageProgram(name string) error {
	if _, err := os.Stat("/etc/broken"); err == nil {
		return errors.New("will not embed")
	}
	if name == lingering {
		time.Sleep(time.Minute)
		return nil
	}
	s := seen{Args: os.Args[1:], Env: os.Environ(), PID: os.Getpid()}
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(info)) {
		s.Mounts = append(s.Mounts, strings.Fields(line)[4])
	}
	cards, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, c := range cards {
		s.Cards = append(s.Cards, c.Name)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, p := range processes {
		if p != "/proc/1" {
			s.Others = append(s.Others, p)
		}
	}
	if s.Root, err = os.Readlink("/dev/disk/by-uuid/" + rootUUID); err != nil {
		return err
	}
	if last := os.Args[len(os.Args)-1]; strings.HasPrefix(last, "/dev/") {
		b := make([]byte, 2)
		f, err := os.Open(last)
		if err != nil {
			return err
		}
		if _, err := f.ReadAt(b, 510); err != nil {
			return err
		}
		s.Disk = fmt.Sprintf("%x", b)
	}
	s.Ways = waysOut() // which leaves a process behind
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile("/seen-"+name, text, 0o600); err != nil {
		return err
	}
	if name != "grub-install" || os.Args[len(os.Args)-1] != "--removable" {
		return nil
	}
	at := "/boot/efi/EFI/BOOT"
	return errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(at+"/BOOTX64.EFI", []byte("MZ"), 0o644))
}

// realImage is a root partition with this program in it, as a file that is
// served.
func realImage(t *testing.T, files map[string]string) agentapi.ImageInfo {
	t.Helper()
	tree, raw := efiTree(t, files), filepath.Join(t.TempDir(), "root.raw")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(tree+"/usr/sbin", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"grub-install", "grub-mkconfig"} {
		if err := os.WriteFile(tree+"/usr/sbin/"+name, self, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "", "mkfs.ext4", "-q", "-b", "4096", "-U", rootUUID, "-d", tree, raw, "160M")
	content, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	info := serve(t, content)
	info.ImageType, info.RootMB, info.DeployBootMode = agentapi.PartitionImage, 200, "uefi"
	return info
}

// bareLoop is a loop device with nothing on it.
func bareLoop(t *testing.T, size int64, sector int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
		t.Fatal(err)
	}
	dev := run(t, "", "losetup", "-f", "--show", "-P", "-b", fmt.Sprint(sector), path)
	t.Cleanup(func() { run(t, "", "losetup", "-d", dev) })
	return dev
}

// partxDevice is a device that gets its partitions by partx, if its kernel does not read tables.
type partxDevice struct {
	Device
	t    *testing.T
	path string
}

func (d partxDevice) RereadPartitions(ctx context.Context) error {
	if err := d.Device.RereadPartitions(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(d.path + "p1"); err != nil {
		run(d.t, "", "partx", "-a", d.path)
	}
	return nil
}

// onLoop is a machine with a loop device that runs programs as an agent does.
func onLoop(t *testing.T, dev string, size int64) *bench {
	b := onDevice(t, dev)
	b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) {
		return []agentapi.Disk{{Name: dev, Size: size}}, nil
	}
	open := b.Open
	b.Open = func(ctx context.Context, path string) (Device, error) {
		d, err := open(ctx, path)
		if err != nil {
			return nil, err
		}
		return partxDevice{d, t, path}, nil
	}
	b.Run = (*exec.Cmd).Run
	b.config.EnableBIOSBootloaderInstall = true
	return b
}

// TestE2EPartitionsOnDevice checks a divided disk with Debian's programs, and runs the
// image's own in it.
func TestE2EPartitionsOnDevice(t *testing.T) {
	const size = 2 << 30
	for _, sector := range []int{512, 4096} {
		t.Run(fmt.Sprint(sector), func(t *testing.T) {
			dev := bareLoop(t, size, sector)
			b := onLoop(t, dev, size)
			b.uefi = true
			info := realImage(t, map[string]string{"etc/fstab": "# none\n"})
			info.SwapMB, info.EphemeralMB = 64, 300
			if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
				agentapi.PrepareImageParams{ImageInfo: info, ConfigDrive: b64(string(iso(t)))}); err != nil {
				t.Fatal(err)
			}
			told := b.PartitionUUIDs()
			esp := told["efi system partition uuid"].(string)
			run(t, "", "sfdisk", "-q", "--verify", dev)
			kinds := map[string]string{}
			for role, path := range told["partitions"].(map[string]string) {
				kinds[role] = run(t, "", "blkid", "-p", "-o", "value", "-s", "LABEL", "-s", "UUID", "-s", "TYPE", path)
			}
			if diff := cmp.Diff(rootUUID+"\next4", kinds["root"]); diff != "" {
				t.Errorf("root: %s", diff)
			}
			if diff := cmp.Diff("efi-part\n"+esp+"\nvfat", kinds["efi system partition"]); diff != "" {
				t.Errorf("ESP: %s", diff)
			}
			for role, parts := range map[string][2]string{"swap": {"swap1", "swap"}, "ephemeral": {"ephemeral0", "ext4"}} {
				if lines := strings.Split(kinds[role], "\n"); len(lines) != 3 || lines[0] != parts[0] || lines[2] != parts[1] {
					t.Errorf("%s is %q", role, kinds[role])
				}
			}
			if !strings.Contains(strings.ToLower(kinds["configdrive"]), "config-2") {
				t.Errorf("config drive is %q", kinds["configdrive"])
			}
			run(t, "", "e2fsck", "-fn", dev+"p2")
			run(t, "", "swaplabel", dev+"p3")
			run(t, "", "e2fsck", "-fn", dev+"p5")
			run(t, "", "fsck.vfat", "-n", dev+"p1")
			t.Run("GRUB for UEFI", func(t *testing.T) { b.grubOnUEFI(t, dev, esp) })
			checkUnmounted(t, dev)
		})
	}
}

// grubOnUEFI has the image install itself on the EFI system partition.
func (b *bench) grubOnUEFI(t *testing.T, dev, esp string) {
	known, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(known), "\tvfat\n") {
		t.Skip("this kernel mounts no vfat")
	}
	p := agentapi.BootloaderParams{RootUUID: rootUUID, EFISystemPartUUID: esp, TargetBootMode: "uefi"}
	if err := b.InstallBootloader(t.Context(), agentapi.CommandNode{}, p); err != nil {
		t.Fatal(err)
	}
	b.checkProgram(t, dev+"p5", "grub-install", []string{"--target=x86_64-efi", "--efi-directory=/boot/efi", "--no-nvram",
		"--removable"}, []string{"/boot/efi"})
	b.checkProgram(t, dev+"p5", "grub-mkconfig", []string{"-o", "/boot/grub/grub.cfg"}, nil)
	look(t, dev+"p5", "ext4", func(root string) {
		if got, err := os.ReadFile(root + "/etc/fstab"); err != nil ||
			string(got) != "# none\nUUID="+esp+"\t/boot/efi\tvfat\tumask=0077\t0\t1\n" {
			t.Errorf("fstab is %q, %v", got, err)
		}
	})
	if len(b.vars["BootOrder"]) != 2 {
		t.Errorf("EFI variables are %v", b.vars)
	}
	run(t, "", "fsck.vfat", "-n", dev+"p1")
}

// checkProgram checks the environment that a program of the image has seen.
func (b *bench) checkProgram(t *testing.T, root, name string, args, mounts []string) {
	t.Helper()
	var s seen
	look(t, root, "ext4", func(root string) {
		text, err := os.ReadFile(root + "/seen-" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
	})
	if diff := cmp.Diff(args, s.Args); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	if s.PID != 1 || len(s.Cards) != 1 || s.Cards[0] != "lo" {
		t.Errorf("%s was process %d with network cards %v, expected 1 and lo", name, s.PID, s.Cards)
	}
	if len(s.Others) > 0 {
		t.Errorf("%s sees processes outside: %v", name, s.Others)
	}
	if len(s.Ways) > 0 {
		t.Errorf("%s gets out of its root:\n%s", name, strings.Join(s.Ways, "\n"))
	}
	if s.Root != root {
		t.Errorf("%s finds its root by UUID at %q, expected %q", name, s.Root, root)
	}
	if diff := cmp.Diff(grubEnv(), s.Env); diff != "" {
		t.Errorf("%s's environment (-want +got):\n%s", name, diff)
	}
	for _, want := range mounts {
		if !strings.Contains(strings.Join(s.Mounts, " ")+" ", want+" ") {
			t.Errorf("%s has nothing mounted at %s: %v", name, want, s.Mounts)
		}
	}
}

// checkUnmounted: nothing of a device is mounted any more, also nowhere that we do not
// see.
func checkUnmounted(t *testing.T, dev string) {
	t.Helper()
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(info), dev) || strings.Contains(string(info), "/chroot") {
		t.Errorf("something is mounted still: %v\n%s", err, info)
	}
	d, err := disk.OpenDevice(t.Context(), dev)
	if err != nil {
		t.Error(err)
		return
	}
	d.Close()
}

// TestE2EImageProgramsOnDevice: for BIOS, with a program that works and another that does not; either way nothing
// stays.
func TestE2EImageProgramsOnDevice(t *testing.T) {
	const size = 512 << 20
	for name, files := range map[string]map[string]string{
		"works": {"etc/x": ""}, "fails": {"etc/broken": ""}, "a link for /proc": {"etc/x": ""},
	} {
		t.Run(name, func(t *testing.T) {
			dev := bareLoop(t, size, 512)
			b := onLoop(t, dev, size)
			info := realImage(t, files)
			info.DeployBootMode, info.DiskLabel = "bios", "gpt"
			if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
				agentapi.PrepareImageParams{ImageInfo: info}); err != nil {
				t.Fatal(err)
			}
			places := []string{"/", "/proc", "/sys", "/run", "/tmp", "/dev"}
			if name == "a link for /proc" { // which its first program could lead elsewhere for the second
				look(t, dev+"p2", "ext4", func(root string) {
					if err := errors.Join(os.RemoveAll(root+"/proc"), os.Symlink("/usr/proc", root+"/proc"),
						os.MkdirAll(root+"/usr/proc", 0o755)); err != nil {
						t.Fatal(err)
					}
				})
			}
			err := b.InstallBootloader(t.Context(), agentapi.CommandNode{},
				agentapi.BootloaderParams{RootUUID: rootUUID, TargetBootMode: "bios"})
			wrong := map[string]string{"a link for /proc": "/proc is a link in the image, expected a folder",
				"fails": "grub-install --target=i386-pc " + dev + ": exit status 1: will not embed"}[name]
			switch {
			case wrong != "":
				if err == nil || !strings.Contains(err.Error(), wrong) {
					t.Error(err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				b.checkProgram(t, dev+"p2", "grub-install", []string{"--target=i386-pc", dev}, places)
				b.checkProgram(t, dev+"p2", "grub-mkconfig", []string{"-o", "/boot/grub/grub.cfg"}, places)
				checkNobodyLingers(t)
			}
			checkUnmounted(t, dev)
		})
	}
}
