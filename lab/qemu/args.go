package qemu

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// program is the emulator, from Debian's qemu-system-x86.
const program = "qemu-system-x86_64"

// Debian's ovmf package. The variables file is a template: OVMF writes to it.
const (
	ovmfCode = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	ovmfVars = "/usr/share/OVMF/OVMF_VARS_4M.fd"
)

// Descriptors the process inherits: its ends of the QMP and console sockets.
const (
	qmpFD     = 3
	consoleFD = 4
)

// args is QEMU's command line for one start of the machine.
//
//   - -no-reboot turns a guest's reset into an exit, so that every start has
//     the boot order of its own moment;
//   - graphics=off makes SeaBIOS and the iPXE ROM speak on the serial port;
//   - +rdrand, because without it the guest's random pool under TCG is not
//     ready for minutes and getrandom blocks;
//   - discard and detect-zeroes keep a disk file sparse when a guest erases it;
//   - cache=unsafe, because a lab's disks need not survive the host's crash.
func args(s Spec, start Start) []string {
	a := []string{
		"-name", "guest=" + s.Name,
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-machine", "q35,graphics=off",
		"-smp", strconv.Itoa(s.CPUs), "-m", strconv.Itoa(s.MemoryMB),
		"-uuid", s.UUID,
		"-smbios", fmt.Sprintf("type=1,manufacturer=%s,product=%s,serial=%s,uuid=%s", Manufacturer, Model,
			escape(s.Serial), s.UUID),
		"-chardev", fmt.Sprintf("socket,id=qmp,fd=%d", qmpFD), "-mon", "chardev=qmp,mode=control",
		"-chardev", fmt.Sprintf("socket,id=console,fd=%d", consoleFD), "-serial", "chardev:console",
	}
	if s.Accel == KVM {
		a = append(a, "-accel", "kvm", "-cpu", "host")
	} else {
		a = append(a, "-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand")
	}
	if s.RTC != "" {
		a = append(a, "-rtc", "base="+s.RTC)
	}
	if start.Firmware == UEFI {
		a = append(a,
			"-drive", "if=pflash,format=raw,unit=0,readonly=on,file="+ovmfCode,
			"-drive", "if=pflash,format=raw,unit=1,file="+escape(varsPath(s)))
	}
	if start.HTTP {
		for _, pxe := range []string{"IPv4PXESupport", "IPv6PXESupport"} {
			a = append(a, "-fw_cfg", "name=opt/org.tianocore/"+pxe+",string=n")
		}
	}
	a = append(a, diskArgs(s, start)...)
	a = append(a, nicArgs(s, start)...)
	a = append(a, ipmiArgs(s)...)
	return append(a, cdArgs(s, start)...)
}

// Manufacturer and Model are the machine's names in SMBIOS.
const (
	Manufacturer = "Ferrite"
	Model        = "Lab Machine"
)

// varsPath is the machine's own copy of the UEFI variables.
func varsPath(s Spec) string { return filepath.Join(s.Dir, s.Name+".vars.fd") }

// escape doubles commas, which separate options in QEMU's arguments.
func escape(s string) string { return strings.ReplaceAll(s, ",", ",,") }

// bootIndex is the option that puts a device at its place in the order.
func bootIndex(start Start, id string) string {
	i := slices.Index(start.Order, id)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf(",bootindex=%d", i+1)
}

// controllers are the devices for buses that the board lacks.
var controllers = []struct {
	bus    Bus
	device string
}{
	{BusSCSI, "virtio-scsi-pci,id=scsi"},
	{BusMegaSAS, "megasas,id=megasas"},
	{BusUSB, "qemu-xhci,id=usb"},
}

func diskArgs(s Spec, start Start) []string {
	var a []string
	for _, c := range controllers {
		if s.CD == c.bus || slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.Bus == c.bus }) {
			a = append(a, "-device", c.device)
		}
	}
	sata := 0
	for i, d := range s.Disks {
		id := fmt.Sprintf("disk%d", i)
		a = append(a, "-drive", fmt.Sprintf("if=none,id=drive-%s,format=%s,cache=unsafe,discard=unmap,detect-zeroes=unmap,%s",
			id, d.Format, fileArgs(d)))
		device := ""
		switch d.Bus {
		case BusVirtio:
			device = "virtio-blk-pci"
		case BusNVMe:
			device = "nvme"
		case BusSCSI:
			device = "scsi-hd,bus=scsi.0"
		case BusMegaSAS:
			device = "scsi-hd,bus=megasas.0"
		case BusUSB:
			device = "usb-storage,bus=usb.0"
		case BusSATA:
			device = fmt.Sprintf("ide-hd,bus=ide.%d", sata)
			sata++
		}
		if d.Plain && d.Bus == BusVirtio {
			device += ",discard=off,write-zeroes=off"
		} else if d.Plain {
			device += ",discard_granularity=0"
		}
		sector := ""
		if d.LogicalSectorSize != 512 {
			sector = fmt.Sprintf(",logical_block_size=%d,physical_block_size=%[1]d", d.LogicalSectorSize)
		}
		a = append(a, "-device", fmt.Sprintf("%s,id=%s,drive=drive-%[2]s,serial=%s%s%s", device, id, escape(d.Serial), sector,
			bootIndex(start, id)))
	}
	return a
}

// fileArgs is where a disk's content is. Bad sectors are QEMU's blkdebug filter: rules that
// hold from the start on, and fail writes with EIO. Writes of zeroes are another kind of
// request by then.
func fileArgs(d Disk) string {
	if len(d.BadSectors) == 0 {
		return "file=" + escape(d.Path)
	}
	a := "file.driver=blkdebug,file.image.driver=file,file.image.filename=" + escape(d.Path)
	kinds := []string{"write", "write-zeroes"}
	for i, sector := range d.BadSectors {
		for j, kind := range kinds {
			rule := fmt.Sprintf(",file.inject-error.%d.", i*len(kinds)+j)
			a += rule + "event=none" + rule + "iotype=" + kind + rule + "errno=5" + rule + fmt.Sprintf("sector=%d", sector)
		}
	}
	return a
}

func nicArgs(s Spec, start Start) []string {
	var a []string
	for i, n := range s.NICs {
		id := fmt.Sprintf("nic%d", i)
		device := fmt.Sprintf("%s,id=%s,mac=%s%s", nicDevices[n.Model], id, n.MAC, bootIndex(start, id))
		switch {
		case n.Tap != "":
			a = append(a, "-netdev", fmt.Sprintf("tap,id=net-%s,ifname=%s,script=no,downscript=no", id, n.Tap))
		case n.Wire != "":
			a = append(a, "-netdev", fmt.Sprintf("dgram,id=net-%s,local.type=unix,local.path=%s,remote.type=unix,remote.path=%s",
				id, escape(WireEnd(n.Wire)), escape(n.Wire)))
		}
		if n.Linked() {
			device += ",netdev=net-" + id
		}
		if n.Wire != "" && n.Model == "virtio" {
			device += ",speed=1000,duplex=full" // a bond leaves a card of unknown speed alone
		}
		// An iPXE ROM would take the card away from the firmware's HTTP boot.
		if !n.OptionROM || start.HTTP {
			device += ",romfile="
		}
		a = append(a, "-device", device)
	}
	return a
}

// ipmiArgs is the machine's way to its BMC: a KCS interface at the address where every driver looks for one.
func ipmiArgs(s Spec) []string {
	host, port, err := net.SplitHostPort(s.IPMI)
	if err != nil {
		return nil // none: validate has seen to it
	}
	return []string{
		"-chardev", fmt.Sprintf("socket,id=ipmi,host=%s,port=%s,reconnect=1", escape(host), port),
		"-device", "ipmi-bmc-extern,id=bmc,chardev=ipmi", "-device", "isa-ipmi-kcs,bmc=bmc",
	}
}

// cdArgs is the drive for virtual media, always there so that media can be
// changed while the machine runs. Media at http(s) URLs are read by QEMU itself (its curl block
// driver), in the parts that firmware and kernel ask for.
func cdArgs(s Spec, start Start) []string {
	var a []string
	device := fmt.Sprintf("ide-cd,bus=ide.%d", maxSATA)
	if s.CD == BusSCSI {
		device = "scsi-cd,bus=scsi.0"
	}
	if s.CD == BusUSB {
		a = append(a, "-device", "usb-bot,id=usbcd,bus=usb.0")
		device = "scsi-cd,bus=usbcd.0"
	}
	device += ",id=" + cdID + bootIndex(start, cdID)
	if start.Media != "" {
		a = append(a, "-drive", "if=none,id=drive-"+cdID+",media=cdrom,readonly=on,format=raw,file="+escape(start.Media))
		device += ",drive=drive-" + cdID
	}
	return append(a, "-device", device)
}
