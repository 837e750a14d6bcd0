package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// diskOf is a disk with some bytes.
func diskOf(t *testing.T, content []byte) qemu.Disk {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return qemu.Disk{Path: path, Serial: "S"}
}

// TestHolds changes one byte of an image of three parts on a disk, and cuts it.
func TestHolds(t *testing.T) {
	image := bytes.Repeat([]byte("image"), 3*imageEdge/5)
	raw := diskOf(t, image).Path
	for _, tt := range []struct {
		name string
		at   int // the byte that differs
		size int // of the disk
		ok   bool
	}{
		{"in the table", imageEdge - 1, 4 * imageEdge, true},
		{"the first of the partitions", imageEdge, 4 * imageEdge, false},
		{"the last of the partitions", len(image) - imageEdge - 1, 4 * imageEdge, false},
		{"in the backup of the table", len(image) - imageEdge, 4 * imageEdge, true},
		{"the disk is smaller", 0, 2 * imageEdge, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			disk := make([]byte, 4*imageEdge)
			copy(disk, image)
			disk[tt.at]++
			if err := holds(diskOf(t, disk[:tt.size]), raw); (err == nil) != tt.ok {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestBlank(t *testing.T) {
	disk := make([]byte, 2<<20+512)
	if err := blank(diskOf(t, disk)); err != nil {
		t.Error(err)
	}
	for _, at := range []int{0, 1<<20 - 1, len(disk) - 1} {
		written := slices.Clone(disk)
		written[at] = 1
		if err := blank(diskOf(t, written)); err == nil {
			t.Errorf("a byte at %d was not seen", at)
		}
	}
}

// TestHardwareIsInventoried compares a machine's specification with its inventory.
func TestHardwareIsInventoried(t *testing.T) {
	spec := qemu.Spec{
		Firmware: qemu.UEFI,
		Disks: []qemu.Disk{{Serial: "S1", Bus: qemu.BusUSB, SizeMB: 1, LogicalSectorSize: 512},
			{Serial: "S0", Bus: qemu.BusSCSI, SizeMB: 2, LogicalSectorSize: 4096}},
		NICs: []qemu.NIC{
			{MAC: "52:54:00:AA:00:00", Model: "rtl8139"}, {MAC: "52:54:00:aa:00:01", Model: "virtio", Unplugged: true},
		},
	}
	seen := agentapi.Inventory{
		Boot: agentapi.BootInfo{CurrentBootMode: "uefi"},
		Disks: []agentapi.Disk{
			{Serial: "S0", Size: 2 << 20, LogicalSectors: 4096},
			{Serial: "S1", Transport: "usb", Size: 1 << 20, LogicalSectors: 512},
		},
		Interfaces: []agentapi.Interface{
			{MACAddress: "52:54:00:aa:00:01", Driver: "virtio_net"},
			{MACAddress: "52:54:00:aa:00:00", Driver: "8139cp", HasCarrier: true},
		},
	}
	if diff := cmp.Diff(hardware(spec), inventoried(seen)); diff != "" {
		t.Error(diff)
	}
	seen.Disks = seen.Disks[:1]
	if cmp.Equal(hardware(spec), inventoried(seen)) {
		t.Error("a disk that is missing was not missed")
	}
}
