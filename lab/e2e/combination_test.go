package e2e

import (
	"slices"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// combination is the hardware of one machine of the matrix.
type combination struct {
	firmware qemu.Firmware
	bus      qemu.Bus
	card     string // a model of qemu.NIC
}

// The hardware of real machines and other hypervisors that QEMU emulates.
var (
	firmwares = []qemu.Firmware{qemu.UEFI, qemu.BIOS}
	buses     = []qemu.Bus{qemu.BusVirtio, qemu.BusSCSI, qemu.BusNVMe, qemu.BusSATA, qemu.BusUSB, qemu.BusMegaSAS}
	cards     = []string{"virtio", "e1000", "e1000e", "vmxnet3", "rtl8139"}
)

// biosOnly are the buses that OVMF has no driver for.
var biosOnly = []qemu.Bus{qemu.BusMegaSAS}

// Expected findings of the ramdisk: the transport of a disk (none for virtio-scsi and RAID
// controllers), and the driver of a card.
var (
	transports = map[qemu.Bus]string{qemu.BusVirtio: "virtio", qemu.BusNVMe: "nvme", qemu.BusSATA: "sata",
		qemu.BusUSB: "usb"}
	drivers = map[string]string{"virtio": "virtio_net", "e1000": "e1000", "e1000e": "e1000e", "vmxnet3": "vmxnet3",
		"rtl8139": "8139cp"}
)

// combinations are machines enough that any two kinds of hardware that can be
// in one machine are in one of them. The buses and the cards alone ask for
// each bus with each card; with the firmware alternating along both, each
// firmware meets all of either too.
func combinations() []combination {
	var all []combination
	for i, bus := range buses {
		for j, card := range cards {
			c := combination{firmwares[(i+j)%len(firmwares)], bus, card}
			if slices.Contains(biosOnly, bus) {
				c.firmware = qemu.BIOS
			}
			all = append(all, c)
		}
	}
	return all
}

// name is unique, and short enough to be part of a lab's id.
func (c combination) name() string { return string(c.firmware) + "-" + string(c.bus) + "-" + c.card }

// spec is the machine itself.
func (c combination) spec() qemu.Spec {
	return qemu.Spec{
		Name: "metal-1", Firmware: c.firmware, MemoryMB: metalMB,
		Disks: []qemu.Disk{{SizeMB: matrixDiskMB, Bus: c.bus}}, NICs: []qemu.NIC{{Model: c.card, OptionROM: true}},
	}
}
