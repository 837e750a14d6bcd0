package qemu

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Firmware is the program that runs first on a machine.
type Firmware string

// The firmwares: OVMF and SeaBIOS.
const (
	UEFI Firmware = "uefi"
	BIOS Firmware = "bios"
)

// Bus is how a disk is attached.
type Bus string

// The buses. SCSI is virtio's; OVMF has no driver for MegaSAS, so that UEFI
// does not boot from it.
const (
	BusVirtio  Bus = "virtio"
	BusNVMe    Bus = "nvme"
	BusSATA    Bus = "sata"
	BusSCSI    Bus = "scsi"
	BusUSB     Bus = "usb"
	BusMegaSAS Bus = "megasas"
)

// buses are all of them.
var buses = []Bus{BusVirtio, BusNVMe, BusSATA, BusSCSI, BusUSB, BusMegaSAS}

// maxSATA is the number of the q35 board's six AHCI ports left when the last
// one holds the CD drive.
const maxSATA = 5

// cdBuses are the buses for the CD drive.
var cdBuses = []Bus{BusSATA, BusSCSI, BusUSB}

// maxUSB is the number of ports of QEMU's xHCI controller.
const maxUSB = 4

// maxSerial is the length of a serial number in virtio-blk and NVMe.
const maxSerial = 20

// rtcLayout is how QEMU takes the time of an RTC.
const rtcLayout = "2006-01-02T15:04:05"

// Accel is QEMU's accelerator.
type Accel string

// The accelerators. The choice is explicit and never guessed: there are
// machines where /dev/kvm opens and KVM does not work.
const (
	TCG Accel = "tcg"
	KVM Accel = "kvm"
)

// Spec is the hardware of one machine, as data. New checks it and fills in the empty fields.
type Spec struct {
	// Name is unique in the lab; it names the machine's files.
	Name string
	// UUID is the SMBIOS system UUID; empty is derived from Name.
	UUID string
	// Serial is the SMBIOS serial number; empty is Name in capitals.
	Serial   string
	Firmware Firmware // empty is UEFI
	MemoryMB int      // MiB; 0 is 512
	CPUs     int      // 0 is 1, the fastest under TCG on two cores
	Disks    []Disk
	NICs     []NIC
	CD       Bus // of the virtual CD drive: sata, scsi or usb; empty is sata
	// HTTPBoot makes UEFI firmware try HTTP boot and no PXE, always.
	HTTPBoot bool
	Accel    Accel // empty is TCG
	// RTC is the time of the battery-backed clock at each start, in UTC, as
	// 2001-01-01T00:00:00; empty is the host's.
	RTC string
	// IPMI is the host:port at which a BMC simulator (OpenIPMI's ipmi_sim) waits for its machine: the machine then shows
	// a BMC to its kernel. Empty for none.
	IPMI string
	// Dir is where the machine keeps its UEFI variables between power cycles.
	Dir string
	// ConsoleLog is the file the serial console is written to; empty is none.
	ConsoleLog string
}

// Disk is one disk. Its file must exist before the machine starts: CreateDisk.
type Disk struct {
	Path   string
	Format string // "raw" or "qcow2"; empty is raw
	SizeMB int64  // MiB, for CreateDisk and for the BMC to report
	Bus    Bus    // empty is virtio
	Serial string // at most 20 characters; empty is the machine's name and the disk's number
	// LogicalSectorSize is 512 or 4096 bytes; 0 is 512. SATA has 512 only.
	LogicalSectorSize int
	// Plain removes the disk's own means to erase itself: discard and zeroing.
	Plain bool
	// BadSectors are the sectors, of 512 bytes, that fail every write.
	BadSectors []int64
}

// NIC is one network interface.
type NIC struct {
	MAC   string
	Model string // a key of nicDevices; empty is virtio
	Tap   string // the tap to plug into; a NIC without tap and wire has no link
	// Unplugged asks whoever hands out taps to give this NIC none.
	Unplugged bool
	// Wire is the socket of a switch that stands in the place of a tap: frames go there as datagrams,
	// and come back to WireEnd.
	Wire string
	// OptionROM loads the card's iPXE ROM. Without it UEFI firmware uses its
	// own PXE and HTTP boot, and BIOS cannot boot from the card at all.
	OptionROM bool
}

// WireEnd is the socket where the NIC at the other end of a wire listens.
func WireEnd(wire string) string { return wire + ".nic" }

// Linked reports whether something is at the other end of the NIC's cable.
func (n NIC) Linked() bool { return n.Tap != "" || n.Wire != "" }

// nicDevices maps a NIC model to the QEMU device.
var nicDevices = map[string]string{
	"virtio":  "virtio-net-pci",
	"e1000e":  "e1000e",
	"e1000":   "e1000",
	"vmxnet3": "vmxnet3",
	"rtl8139": "rtl8139",
}

// withDefaults fills in the fields that may be left empty.
func (s Spec) withDefaults() Spec {
	s.UUID = or(s.UUID, uuid.NewSHA1(uuid.NameSpaceOID, []byte(s.Name)).String())
	s.Serial = or(s.Serial, strings.ToUpper(s.Name))
	s.Firmware = or(s.Firmware, UEFI)
	s.MemoryMB = or(s.MemoryMB, 512)
	s.CPUs = or(s.CPUs, 1)
	s.Accel = or(s.Accel, TCG)
	s.CD = or(s.CD, BusSATA)
	s.Disks = slices.Clone(s.Disks)
	for i := range s.Disks {
		d := &s.Disks[i]
		d.Format = or(d.Format, "raw")
		d.Bus = or(d.Bus, BusVirtio)
		d.Serial = or(d.Serial, fmt.Sprintf("%s-%d", s.Name, i))
		d.LogicalSectorSize = or(d.LogicalSectorSize, 512)
	}
	s.NICs = slices.Clone(s.NICs)
	for i := range s.NICs {
		s.NICs[i].Model = or(s.NICs[i].Model, "virtio")
	}
	return s
}

// or is value, or fallback when value is empty.
func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// validate reports everything in a filled-in spec that QEMU would choke on
// or, worse, take for something else.
func (s Spec) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("machine %q: "+format, append([]any{s.Name}, args...)...))
	}
	if s.Name == "" || strings.ContainsAny(s.Name, "/, \x00") {
		bad("expected a name without slash, comma or space")
	}
	if _, err := uuid.Parse(s.UUID); err != nil {
		bad("uuid %q: %w", s.UUID, err)
	}
	if s.Firmware != UEFI && s.Firmware != BIOS {
		bad("firmware %q: expected uefi or bios", s.Firmware)
	}
	if s.Accel != TCG && s.Accel != KVM {
		bad("accel %q: expected tcg or kvm", s.Accel)
	}
	if _, err := time.Parse(rtcLayout, s.RTC); s.RTC != "" && err != nil {
		bad("rtc %q: expected a time as %s", s.RTC, rtcLayout)
	}
	if s.MemoryMB < 64 || s.CPUs < 1 {
		bad("expected at least 64 MiB and 1 CPU, found %d and %d", s.MemoryMB, s.CPUs)
	}
	if _, _, err := net.SplitHostPort(s.IPMI); s.IPMI != "" && err != nil {
		bad("ipmi %q: expected host:port", s.IPMI)
	}
	if s.Firmware == BIOS && s.HTTPBoot {
		bad("HTTP boot needs uefi firmware")
	}
	attached := map[Bus]int{}
	for i, d := range s.Disks {
		if err := d.validate(); err != nil {
			bad("disk %d: %w", i, err)
		}
		attached[d.Bus]++
	}
	if !slices.Contains(cdBuses, s.CD) {
		bad("CD drive on bus %q: expected one of %v", s.CD, cdBuses)
	}
	if s.CD == BusUSB {
		attached[BusUSB]++
	}
	if sata, usb := attached[BusSATA], attached[BusUSB]; sata > maxSATA || usb > maxUSB {
		bad("%d sata and %d usb drives: expected at most %d and %d", sata, usb, maxSATA, maxUSB)
	}
	for i, n := range s.NICs {
		if _, err := net.ParseMAC(n.MAC); err != nil {
			bad("nic %d: %w", i, err)
		}
		if nicDevices[n.Model] == "" {
			bad("nic %d: model %q is not known", i, n.Model)
		}
	}
	return errors.Join(errs...)
}

func (d Disk) validate() error {
	if !slices.Contains(buses, d.Bus) {
		return fmt.Errorf("bus %q: expected one of %v", d.Bus, buses)
	}
	if d.Format != "raw" && d.Format != "qcow2" {
		return fmt.Errorf("format %q: expected raw or qcow2", d.Format)
	}
	if d.Path == "" || len(d.Serial) > maxSerial {
		return fmt.Errorf("expected a path and a serial of at most %d characters, found %q and %q", maxSerial,
			d.Path, d.Serial)
	}
	switch {
	case d.LogicalSectorSize == 512:
	case d.LogicalSectorSize == 4096 && d.Bus != BusSATA:
	default:
		return fmt.Errorf("logical sector size %d on %s: expected 512, or 4096 on anything but sata",
			d.LogicalSectorSize, d.Bus)
	}
	return nil
}
