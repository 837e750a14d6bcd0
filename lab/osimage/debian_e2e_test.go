//go:build e2e

package osimage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDebianPhonesHome builds for minutes, then boots Python under emulation: run it
// with -timeout 30m. Debian's own cloud-init reads the config drive: it sets the
// hostname and phones home by its own module.
func TestDebianPhonesHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("debootstrap needs root: run this test as root")
	}
	began := time.Now()
	img, err := Debian(t.Context(), cacheDir(t), testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("image after %s", time.Since(began).Round(time.Second))
	for path := range img.SHA256 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", path, info.Size())
	}
	calls, phone := phoneServer(t)
	drive := configDrive(t, "deb-3.example.org", "deb-uuid",
		"#cloud-config\nphone_home:\n  url: "+phone+"\n  post: [instance_id, hostname, fqdn]\n  tries: 5\n")
	m := emulate(t, "uefi", 1024,
		append(diskArgs("qcow2", img.Qcow2Compressed), "-device", "virtio-blk-pci,drive=os,bootindex=1",
			"-drive", "if=none,id=cd,format=raw,readonly=on,file="+drive, "-device", "virtio-blk-pci,drive=cd",
			"-netdev", "user,id=n0", "-device", "virtio-net-pci,netdev=n0,romfile=")...)
	form := receive(t, calls, 8*time.Minute)
	t.Logf("%5.1f s: phone call %v", time.Since(m.began).Seconds(), form)
	for key, want := range map[string]string{"hostname": "deb-3", "fqdn": "deb-3.example.org", "instance_id": "deb-uuid"} {
		if got := form.Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	m.wait("deb-3 login:", 60*time.Second)
}

// A build that is called off in the middle leaves no mount, no process and no half-made image.
func TestDebianCalledOff(t *testing.T) {
	cache := t.TempDir()
	// Packages at hand let it get as far as running programs inside the new system.
	if err := os.Symlink(filepath.Join(cacheDir(t), "debs"), filepath.Join(cache, "debs")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	if _, err := Debian(ctx, cache, testLog(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, want deadline exceeded", err)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || strings.Contains(string(mounts), cache) {
		t.Errorf("mounts below %s are left, %v", cache, err)
	}
	links, err := filepath.Glob("/proc/[0-9]*/root")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if root, err := os.Readlink(link); err == nil && strings.HasPrefix(root, cache) {
			t.Errorf("%s still runs inside %s", filepath.Dir(link), root)
		}
	}
	left, err := filepath.Glob(filepath.Join(cache, "osimages", "*"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("left behind %v, %v", left, err)
	}
}
