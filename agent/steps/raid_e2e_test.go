//go:build e2e

package steps

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/u-root/u-root/pkg/cpio"

	"github.com/ferrite-metal/ferrite/agent/boot"
	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/module"
	"github.com/ferrite-metal/ferrite/agent/network"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const (
	guestImage  = "/image.raw" // in the guest
	guestPassed = "the guest's half has passed"
)

// TestE2ERAIDInGuest boots the lab's kernel and ramdisk, built by make ramdisk, with four disks (two of them 4Kn) and
// this test as process 1. There our arrays are made, run, written onto, booted from on paper and deleted, and Debian's
// mdadm checks them.
func TestE2ERAIDInGuest(t *testing.T) {
	if os.Getpid() == 1 {
		guest(t)
		return
	}
	dir := t.TempDir()
	initramfs := filepath.Join(dir, "initramfs")
	packGuest(t, initramfs, bootableImage(t))
	args := []string{
		"-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand", "-m", "1024", "-nographic", "-no-reboot", "-nic", "none",
		"-kernel", "../../bin/ramdisk/lab.vmlinuz", "-initrd", initramfs,
		"-append", "console=ttyS0 panic=-1 rdinit=/guest -- -test.run=^TestE2ERAIDInGuest$ -test.v",
	}
	for i, sector := range []int{512, 512, 4096, 4096} {
		path := filepath.Join(dir, fmt.Sprint("disk", i))
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 704*mib)); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-drive", fmt.Sprintf("if=none,id=d%d,format=raw,cache=unsafe,file=%s", i, path),
			"-device", fmt.Sprintf("virtio-blk-pci,drive=d%d,serial=D%d,logical_block_size=%d,physical_block_size=%d", i, i,
				sector, sector))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "qemu-system-x86_64", args...).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte(guestPassed)) || bytes.Contains(out, []byte("--- FAIL")) {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// bootableImage is an image with a loader on its EFI system partition.
func bootableImage(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	path, esp := filepath.Join(dir, "image"), filepath.Join(dir, "esp")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 64*mib), os.WriteFile(esp, nil, 0o600),
		os.Truncate(esp, 40*mib)); err != nil {
		t.Fatal(err)
	}
	run(t, "size=40MiB, type=U\ntype=L\n", "sfdisk", "-q", "--label", "gpt", path)
	run(t, "", "mkfs.vfat", "-F", "32", esp)
	run(t, "", "mmd", "-i", esp, "::/EFI", "::/EFI/debian")
	run(t, "loader", "mcopy", "-i", esp, "-", "::/EFI/debian/shimx64.efi")
	run(t, "shimx64.efi,debian,,This is the boot entry for debian\n", "mcopy", "-i", esp, "-", "::/EFI/debian/BOOTX64.CSV")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(esp)
	if err != nil {
		t.Fatal(err)
	}
	copy(whole[mib:], b)
	for i := 42 * mib; i < 50*mib; i++ {
		whole[i] = byte(i >> 9)
	}
	return whole
}

// packGuest puts this test and mdadm before the lab's ramdisk.
func packGuest(t *testing.T, path string, image []byte) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"guest": self, "sbin/mdadm": "/sbin/mdadm"}
	for _, lib := range libraries(t, "/sbin/mdadm") {
		files[strings.TrimPrefix(lib, "/")] = lib
	}
	records := []cpio.Record{cpio.StaticFile(strings.TrimPrefix(guestImage, "/"), string(image), 0o644)}
	folders := map[string]bool{}
	for name, from := range files {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
		records = append(records, cpio.StaticFile(name, string(b), 0o755))
	}
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(folders))) { // in the end the outermost comes first
		records = slices.Insert(records, 0, cpio.Directory(dir, 0o755))
	}
	var out bytes.Buffer
	if err := cpio.WriteRecords(cpio.Newc.Writer(&out), records); err != nil {
		t.Fatal(err)
	}
	if err := cpio.WriteTrailer(cpio.Newc.Writer(&out)); err != nil {
		t.Fatal(err)
	}
	out.Write(make([]byte, (512-out.Len()%512)%512))
	ramdisk, err := os.ReadFile("../../bin/ramdisk/lab.initramfs")
	if err != nil {
		t.Fatalf("%v; make ramdisk builds it", err)
	}
	if err := os.WriteFile(path, append(out.Bytes(), ramdisk...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// libraries are a program's libraries and its dynamic linker.
func libraries(t *testing.T, program string) []string {
	t.Helper()
	var all []string
	for _, word := range strings.Fields(run(t, "", "ldd", program)) {
		if strings.HasPrefix(word, "/") {
			all = append(all, word)
		}
	}
	return all
}

// guest is the half of the test that runs on the machine.
func guest(t *testing.T) {
	kernel := sys.Linux{}
	if err := errors.Join(boot.Mounts(kernel), network.Loopback()); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	release, err := kernel.Release()
	if err != nil {
		t.Fatal(err)
	}
	root := os.DirFS("/")
	index, err := module.ReadIndex(root, release)
	if err != nil {
		t.Fatal(err)
	}
	loader := module.NewLoader(root, index, kernel, nil, nil, b.Log)
	loader.Listed()
	loader.Coldplug()
	b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) { return inventory.Disks(root) }
	b.Open = func(ctx context.Context, path string) (Device, error) { return disk.OpenDevice(ctx, path) }
	b.Kernel, b.LoadModule = kernel, loader.Module
	image, err := os.ReadFile(guestImage)
	if err != nil {
		t.Fatal(err)
	}
	for _, sector := range []int{512, 4096} {
		t.Run(fmt.Sprint(sector), func(t *testing.T) { guestArray(t, b, sector, image) })
	}
	if !t.Failed() {
		fmt.Println(guestPassed)
	}
}

// guestArray goes through an array's life.
func guestArray(t *testing.T, b *bench, sector int, image []byte) {
	if sector == 4096 {
		image = nil // its table is for other sectors
	}
	first, second := "/dev/vda", "/dev/vdb"
	if sector == 4096 {
		first, second = "/dev/vdc", "/dev/vdd"
	}
	b.uefi, b.vars = true, memVars{}
	n := raidNode(volumeOf("MAX", "is_root_volume", true, "volume_name", "root", "physical_disks",
		[]any{map[string]any{"name": first}, map[string]any{"name": second}}))
	result, err := b.raid(t, Clean, "create_configuration", n, nil)
	if err != nil {
		t.Fatal(err)
	}
	says(t, []string{"--examine", first + "2"}, "Version : 1.0", "Raid Level : raid1", "Name : root", "- correct")
	mdadm(t, "--wait", "/dev/md0") // until the kernel has made the members alike; it says so by its exit status
	says(t, []string{"--detail", "/dev/md0"}, "State : clean", "Active Devices : 2", "Failed Devices : 0")
	n = agentapi.CommandNode{RAIDConfig: result.(map[string]any)}
	if image != nil {
		guestDeploy(t, b, n, image, []string{first, second})
	}
	if err := b.stopArrays(n); err != nil {
		t.Fatal(err)
	}
	mdadm(t, "--assemble", "/dev/md7", first+"2", second+"2")
	says(t, []string{"--detail", "/dev/md7"}, "State : clean", "Active Devices : 2")
	mdadm(t, "--stop", "/dev/md7")
	says(t, []string{"--examine", second + "2"}, "State : clean", "Device Role : Active device 1")
	if d, err := b.RootDisk(t.Context(), n, 0); err != nil || d.Name != "/dev/md0" { // as after a reboot
		t.Fatalf("root disk %+v, %v", d, err)
	}
	if _, err := b.raid(t, Clean, "delete_configuration", n, nil); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{first, second} {
		if out, err := exec.Command("/sbin/mdadm", "--examine", d).CombinedOutput(); err == nil &&
			bytes.Contains(out, []byte("MBR Magic")) {
			t.Errorf("%s is not empty: %s", d, out)
		}
		if _, err := os.Stat(d + "2"); err == nil {
			t.Errorf("%s still has partitions", d)
		}
	}
}

// guestDeploy writes an image onto the array and makes it bootable.
func guestDeploy(t *testing.T, b *bench, n agentapi.CommandNode, image []byte, disks []string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "image", time.Unix(1, 0), bytes.NewReader(image))
	}))
	defer srv.Close()
	sum := sha256.Sum256(image)
	info := agentapi.ImageInfo{ID: "tiny", URLs: []string{srv.URL}, DiskFormat: "raw", OSHashAlgo: "sha256",
		OSHashValue: hex.EncodeToString(sum[:])}
	result, err := Execute(t.Context(), b.Machine, Deploy,
		Request{Step: agentapi.Step{Step: "write_image", Args: args(info, "")}, Node: n})
	if err != nil || !strings.Contains(fmt.Sprint(result), "/dev/md0") {
		t.Fatal(result, err)
	}
	if err := b.InstallBootloader(t.Context(), n, agentapi.BootloaderParams{TargetBootMode: "uefi"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.vars["BootOrder"], []byte{1, 0, 0, 0}) { // the last member's entry was made first
		t.Errorf("boot order % x", b.vars["BootOrder"])
	}
	for i, name := range []string{"Boot0001", "Boot0000"} {
		o, err := disk.ParseLoadOption(b.vars[name])
		if err != nil || o.Label != fmt.Sprintf("debian (RAID, part%d)", i) {
			t.Errorf("%s is %q, %v", name, o.Label, err)
		}
	}
	for _, part := range []struct {
		path     string
		from, to int
	}{{"/dev/md0", 42 * mib, 50 * mib}, {disks[0] + "2", 42 * mib, 50 * mib}, {disks[1] + "2", 42 * mib,
		50 * mib}, {disks[0] + "1", mib, 41 * mib}, {disks[1] + "1", mib, 41 * mib}} {
		f, err := os.Open(part.path)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, part.to-part.from)
		at := int64(part.from)
		if strings.HasSuffix(part.path, "1") {
			at = 0 // the member's own EFI system partition
		}
		_, err = f.ReadAt(got, at)
		f.Close()
		if err != nil || !bytes.Equal(got, image[part.from:part.to]) {
			t.Errorf("%s does not hold the image's bytes: %v", part.path, err)
		}
	}
}

func mdadm(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("/sbin/mdadm", args...).CombinedOutput(); err != nil && args[0] != "--wait" {
		t.Errorf("mdadm %v: %v\n%s", args, err, out)
	}
}

// says looks for words in mdadm's output.
func says(t *testing.T, args []string, want ...string) {
	t.Helper()
	out, err := exec.Command("/sbin/mdadm", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("mdadm %v: %v\n%s", args, err, out)
	}
	for _, w := range want {
		if !bytes.Contains(out, []byte(w)) {
			t.Errorf("mdadm %v does not say %q:\n%s", args, w, out)
		}
	}
}
