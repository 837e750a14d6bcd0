package qemu

import (
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// quiet makes a machine that is never started.
func quiet(t *testing.T, spec Spec) *Machine {
	t.Helper()
	m, err := New(spec, Options{Start: (*exec.Cmd).Start, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestArgs(t *testing.T) {
	nic := NIC{MAC: "52:54:00:77:00:01", Tap: "tap0", OptionROM: true}
	disk := Disk{Path: "/lab/node-0.raw"}
	boot := func(target Target, firmware Firmware) Boot { return Boot{target, Once, firmware} }
	tests := []struct {
		name  string
		spec  Spec
		boot  Boot
		media string
	}{
		{"uefi-default", Spec{Disks: []Disk{disk}, NICs: []NIC{nic}}, boot(TargetNone, UEFI), ""},
		{"bios-pxe", Spec{Firmware: BIOS, Disks: []Disk{disk}, NICs: []NIC{nic}}, boot(TargetPxe, BIOS), ""},
		{"uefi-http", Spec{Disks: []Disk{disk}, NICs: []NIC{nic}}, boot(TargetUefiHTTP, UEFI), ""},
		{"kvm-own-pxe", Spec{Accel: KVM, NICs: []NIC{{MAC: nic.MAC, Model: "e1000e", Tap: "tap1"}}},
			boot(TargetPxe, UEFI), ""},
		{"wire", Spec{Firmware: BIOS, NICs: []NIC{{MAC: nic.MAC, Wire: "/lab/a,b.sock"}}},
			boot(TargetCd, BIOS), "/lab/cd.iso"},
		{"ipmi", Spec{Firmware: BIOS, IPMI: "10.0.0.1:9002", Disks: []Disk{disk}}, boot(TargetNone, BIOS), ""},
		{"old-rtc", Spec{Firmware: BIOS, RTC: "2001-01-01T00:00:00"}, boot(TargetNone, BIOS), ""},
		{"every-bus", Spec{MemoryMB: 2048, CPUs: 2, Disks: []Disk{
			{Path: "/a,b/virtio.qcow2", Format: "qcow2", Bus: BusVirtio, Serial: "S1"},
			{Path: "/nvme.raw", Bus: BusNVMe, LogicalSectorSize: 4096},
			{Path: "/sata0.raw", Bus: BusSATA},
			{Path: "/sata1.raw", Bus: BusSATA},
			{Path: "/scsi.raw", Bus: BusSCSI},
			{Path: "/usb.raw", Bus: BusUSB},
			{Path: "/megasas.raw", Bus: BusMegaSAS, BadSectors: []int64{0, 4096}},
		}, NICs: []NIC{{MAC: nic.MAC}}}, boot(TargetCd, UEFI), "/lab/cd.iso"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Name, tt.spec.Dir = "node-0", "/lab"
			spec := quiet(t, tt.spec).Spec()
			got := strings.ReplaceAll(strings.Join(args(spec, planStart(spec, tt.boot, tt.media)), "\n"), "\n-", "\x00-")
			got = strings.ReplaceAll(strings.ReplaceAll(got, "\n", " "), "\x00", "\n") + "\n"
			file := filepath.Join("testdata", tt.name+".args")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("command line (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	nic := NIC{MAC: "52:54:00:77:00:01"}
	disk := Disk{Path: "d"}
	with := func(change func(*Spec)) Spec {
		s := Spec{Name: "m", Disks: []Disk{disk}, NICs: []NIC{nic}}
		change(&s)
		return s
	}
	tests := map[string]Spec{
		"without slash":            with(func(s *Spec) { s.Name = "a/b" }),
		"uuid":                     with(func(s *Spec) { s.UUID = "x" }),
		"firmware":                 with(func(s *Spec) { s.Firmware = "efi" }),
		"accel":                    with(func(s *Spec) { s.Accel = "xen" }),
		"rtc":                      with(func(s *Spec) { s.RTC = "2001-01-01,drift=none" }),
		"64 MiB":                   with(func(s *Spec) { s.MemoryMB = 1 }),
		"needs uefi":               with(func(s *Spec) { s.Firmware, s.HTTPBoot = BIOS, true }),
		"bus":                      with(func(s *Spec) { s.Disks[0].Bus = "ide" }),
		"format":                   with(func(s *Spec) { s.Disks[0].Format = "vmdk" }),
		"a path":                   with(func(s *Spec) { s.Disks[0].Path = "" }),
		"20 characters":            with(func(s *Spec) { s.Disks[0].Serial = strings.Repeat("x", 21) }),
		"sector size 4096":         with(func(s *Spec) { s.Disks[0].Bus, s.Disks[0].LogicalSectorSize = BusSATA, 4096 }),
		"sector size 520":          with(func(s *Spec) { s.Disks[0].LogicalSectorSize = 520 }),
		"at most 5":                with(func(s *Spec) { s.Disks = slices.Repeat([]Disk{{Path: "d", Bus: BusSATA}}, 6) }),
		"CD drive on bus \"nvme\"": with(func(s *Spec) { s.CD = BusNVMe }),
		"5 usb drives":             with(func(s *Spec) { s.Disks = slices.Repeat([]Disk{{Path: "d", Bus: BusUSB}}, 5) }),
		"invalid MAC address":      with(func(s *Spec) { s.NICs[0].MAC = "zz" }),
		"model \"ne2k_pci\"":       with(func(s *Spec) { s.NICs[0].Model = "ne2k_pci" }),
	}
	for want, spec := range tests {
		_, err := New(spec, Options{Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestCreateDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "disk")
	if err := CreateDisk(t.Context(), Disk{Path: path, SizeMB: 64}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != 64<<20 {
		t.Errorf("%v, %v", info, err)
	}
	if err := CreateDisk(t.Context(), Disk{Path: path, SizeMB: 64}); err == nil {
		t.Error("a disk that exists was overwritten")
	}
	if err := CreateDisk(t.Context(), Disk{Path: path + "2"}); err == nil {
		t.Error("a disk of no size was made")
	}
}
