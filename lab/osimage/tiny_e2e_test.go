//go:build e2e

package osimage

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// The tiny OS finds its config drive, takes its hostname and phones home, from every
// kind of disk it supports and both firmwares.
func TestTinyPhonesHome(t *testing.T) {
	cloud, err := Tiny(t.Context(), cacheDir(t), "test-a", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	standard, err := TinyStandard(t.Context(), cacheDir(t), "test-b", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	const virtioDrive = "virtio-blk-pci,drive=cd"
	tests := []struct {
		name, firmware string
		img            Image
		disk, drive    string // devices
		nic            string
	}{
		{"uefi virtio", "uefi", cloud, "virtio-blk-pci,drive=os", virtioDrive, "virtio-net-pci"},
		{"bios virtio", "bios", cloud, "virtio-blk-pci,drive=os", virtioDrive, "virtio-net-pci"},
		{"uefi nvme", "uefi", cloud, "nvme,serial=s,drive=os", "scsi-cd,drive=cd,bus=scsi.0", "virtio-net-pci"},
		{"uefi sata e1000e", "uefi", standard, "ide-hd,drive=os,bus=ide.0", "ide-cd,drive=cd,bus=ide.1", "e1000e"},
		{"bios sata e1000e", "bios", standard, "ide-hd,drive=os,bus=ide.0", "ide-cd,drive=cd,bus=ide.1", "e1000e"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls, phone := phoneServer(t)
			userData := "#cloud-config\nphone_home:\n  url: " + phone + "\n  post: all\n"
			drive := configDrive(t, "node-7.example.org", "4711-uuid", userData)
			args := append(diskArgs("raw", tt.img.Raw), "-device", tt.disk+",bootindex=1", "-device", "virtio-scsi-pci,id=scsi",
				"-drive", "if=none,id=cd,format=raw,readonly=on,file="+drive, "-device", tt.drive,
				"-netdev", "user,id=n0", "-device", tt.nic+",netdev=n0,romfile=")
			m := emulate(t, tt.firmware, 512, args...)
			m.wait("tinyos: up hostname=node-7 user_data=#cloud-config", 90*time.Second)
			form := receive(t, calls, 60*time.Second)
			t.Logf("%5.1f s: phone call", time.Since(m.began).Seconds())
			sum := sha256.Sum256([]byte(userData))
			want := map[string][]string{
				"hostname": {"node-7"}, "fqdn": {"node-7.example.org"}, "instance_id": {"4711-uuid"}, "boot": {tt.firmware},
				"image": {tt.img.ID}, "user_data_sha256": {hex.EncodeToString(sum[:])},
				"meta_data":    {`{"hostname":"node-7.example.org","meta":{"role":"test"},"uuid":"4711-uuid"}`},
				"network_data": {""},
			}
			if diff := cmp.Diff(want, map[string][]string(form)); diff != "" {
				t.Error(diff)
			}
			m.wait("tinyos: phoned home", 10*time.Second)
			if _, err := m.monitor.Write([]byte("system_powerdown\n")); err != nil {
				t.Fatal(err)
			}
			m.waitOff(15 * time.Second)
		})
	}
}

func TestTinyWithoutConfigDrive(t *testing.T) {
	img, err := Tiny(t.Context(), cacheDir(t), "test-a", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	m := emulate(t, "bios", 512,
		append(diskArgs("qcow2", img.Qcow2Compressed), "-device", "virtio-blk-pci,drive=os,bootindex=1",
			"-netdev", "user,id=n0", "-device", "virtio-net-pci,netdev=n0,romfile=")...)
	m.wait("tinyos: no config drive", 60*time.Second)
	m.wait("tinyos: up hostname=tinyos user_data=", 5*time.Second)
}

// A cached image is not built again, its files are what their sums say, and building it
// elsewhere gives the same bytes.
func TestTinyIsReproducible(t *testing.T) {
	img, err := Tiny(t.Context(), cacheDir(t), "test-a", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	again, err := Tiny(t.Context(), cacheDir(t), "test-a", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(img, again); diff != "" {
		t.Error(diff)
	}
	t.Logf("from the cache in %s", time.Since(began))
	for path, want := range img.SHA256 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := buildcache.HashFile(path)
		if err != nil || got != want {
			t.Errorf("%s: sum %s, want %s, error %v", path, got, want, err)
		}
		t.Logf("%s: %d bytes", path, info.Size())
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(cacheDir(t)+"/kernels", elsewhere+"/kernels"); err != nil {
		t.Fatal(err)
	}
	other, err := Tiny(t.Context(), elsewhere, "test-a", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	if img.SHA256[img.Raw] != other.SHA256[other.Raw] {
		t.Error("two builds differ")
	}
}
