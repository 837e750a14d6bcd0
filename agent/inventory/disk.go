package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// sectorSize is the unit of sysfs's sizes, for disks with any sectors.
const sectorSize = 512

// Disks lists the whole disks by name. A disk with several paths is listed once, by the best of them. All code that
// chooses disks to erase or to install on calls this function. Other block devices are left out with the reason.
func Disks(fsys fs.FS) (disks []agentapi.Disk, skipped []agentapi.SkippedDisk) {
	var paths []diskPath
	for _, name := range names(fsys, "sys/block") {
		if reason := notADisk(fsys, name); reason != "" {
			skipped = append(skipped, agentapi.SkippedDisk{Name: "/dev/" + name, Reason: reason})
			continue
		}
		paths = append(paths, pathOf(fsys, name))
	}
	disks, left := mergePaths(paths)
	return disks, append(skipped, left...)
}

// diskBuses are the buses and classes, by their names in sysfs, on which machines have
// their disks. A block device elsewhere is none: flash chips (mtd), floppy drives
// (platform), Ceph's images (rbd), an eMMC's boot areas (block: they hang on a disk).
var diskBuses = []string{
	"scsi", "nvme", "nvme-subsystem", "virtio", "mmc", "ide", "xen", "vio", "cciss", "memstick",
	"pci",        // drivers without a bus of their own: mtip32xx, rsxx, skd
	"nd",         // persistent memory, which keeps its contents
	"ccw", "scm", // IBM Z
}

// scsiDisks are the SCSI device types that Linux has the disk driver for: disks, optical
// memory, simple disks (RBC), zoned disks (SPC-4, table 151).
var scsiDisks = []string{"0", "7", "14", "20"}

// notADisk returns why a block device is left out; "" for a disk. It goes by the hardware beneath the device, never by
// its name, since new drivers bring new names. Devices without hardware beneath are loops, memory, and devices that
// programs and networks serve (zram, nbd, zd, ublkb, drbd).
func notADisk(fsys fs.FS, name string) string {
	folder := path.Join("sys/block", name)
	device := linkOf(fsys, folder, "device")
	bus, kind := path.Base(linkOf(fsys, folder, "device/subsystem")), text(fsys, folder, "device/type")
	switch {
	case exists(fsys, folder, "md"):
		return "array of other disks"
	case exists(fsys, folder, "dm"), len(names(fsys, folder, "slaves")) > 0: // bcache, drbd
		return "mapping onto other disks"
	case device == "":
		return agentapi.NotHardware
	case text(fsys, folder, "hidden") == "1":
		return "path of a multipath disk"
	case bus == "block":
		return "special area of " + path.Base(device)
	case !slices.Contains(diskBuses, bus):
		reason := fmt.Sprintf("no disk: it is on the bus %q", bus)
		if driver := linkOf(fsys, folder, "device/driver"); driver != "" {
			reason += fmt.Sprintf(", with the driver %q", path.Base(driver))
		}
		return reason
	case bus == "scsi" && (kind == "4" || kind == "5"):
		return "optical drive"
	case bus == "scsi" && !slices.Contains(scsiDisks, kind):
		return fmt.Sprintf("no disk: a SCSI device of type %q", kind)
	case number(fsys, folder, "size") == 0:
		return "no medium"
	case virtualMedia(fsys, folder):
		return "virtual media"
	case readOnly(fsys, folder) && text(fsys, folder, "removable") == "1":
		return "read-only medium"
	}
	return ""
}

// readOnly reports whether the kernel refuses to write to a device.
func readOnly(fsys fs.FS, folder string) bool { return text(fsys, folder, "ro") == "1" }

// virtualMedia recognises the drives that BMCs show over USB, as seen on iDRAC ("Virtual CD", "Virtual Floppy"; its
// own card is "LCDRIVE" of an "iDRAC"), AMI MegaRAC ("Virtual HDISK0"), iLO ("Virtual Media", "Virtual DVD-ROM", of
// the vendor "iLO" and the model "LUN 00 Media 0"), Supermicro ("ATEN", "Virtual CDROM"), Cisco CIMC ("KVM-Mapped
// vHDD") and XCC, and devices with a name that mentions a BMC.
func virtualMedia(fsys fs.FS, folder string) bool {
	link := linkOf(fsys, folder)
	if transport(fsys, link) != "usb" {
		return false
	}
	u, _ := usbBehind(fsys, "sys/block", link)
	drive := usb{vendor: text(fsys, folder, "device/vendor"), product: text(fsys, folder, "device/model")}
	return bmcMedium.MatchString(drive.product) || bmcName(drive) != "" || bmcName(u) != ""
}

// bmcMedium is how BMCs call the media that they show.
var bmcMedium = regexp.MustCompile(`(?i)virtual|mapped.v(hdd|dvd|fdd|cd)`)

// memberOf is the Linux RAID array a disk or one of its partitions belongs
// to.
func memberOf(fsys fs.FS, folder string) string {
	parts := slices.DeleteFunc(names(fsys, folder),
		func(s string) bool { return !strings.HasPrefix(s, path.Base(folder)) })
	for _, sub := range append(parts, ".") {
		for _, holder := range names(fsys, folder, sub, "holders") {
			if exists(fsys, folder, sub, "holders", holder, "md") {
				return holder
			}
		}
	}
	return ""
}

// disk reads one disk.
func disk(fsys fs.FS, name string) agentapi.Disk {
	folder := path.Join("sys/block", name)
	link := linkOf(fsys, folder)
	d := agentapi.Disk{
		Name:            "/dev/" + strings.ReplaceAll(name, "!", "/"), // sysfs cannot have slashes in names
		Model:           text(fsys, folder, "device/model"),
		Size:            number(fsys, folder, "size") * sectorSize,
		Rotational:      text(fsys, folder, "queue/rotational") == "1",
		Serial:          serial(fsys, folder),
		Vendor:          text(fsys, folder, "device/vendor"),
		HCTL:            hctl(linkOf(fsys, folder, "device")),
		LogicalSectors:  int(number(fsys, folder, "queue/logical_block_size")),
		PhysicalSectors: int(number(fsys, folder, "queue/physical_block_size")),
		Transport:       transport(fsys, link),
		ReadOnly:        readOnly(fsys, folder),
	}
	d.WWN, d.WWNVendorExtension, d.WWNWithExtension = wwn(wwid(fsys, folder))
	if p := byPath(fsys, link); p != "" {
		d.ByPath = "/dev/disk/by-path/" + p
	}
	return d
}

// serial reads each kind of disk at its place: virtio-blk beside the disk, NVMe with the controller, USB with the USB
// device (as udev has it), SCSI and ATA in vital product data page 80h, which starts with a header of four bytes.
func serial(fsys fs.FS, folder string) string {
	if u, ok := usbBehind(fsys, "sys/block", linkOf(fsys, folder)); ok && u.serial != "" {
		return u.serial
	}
	for _, file := range []string{"serial", "device/serial"} {
		if s := text(fsys, folder, file); s != "" {
			return s
		}
	}
	page, err := fs.ReadFile(fsys, path.Join(folder, "device/vpd_pg80"))
	if err != nil || len(page) <= 4 {
		return ""
	}
	return strings.TrimSpace(strings.Trim(string(page[4:]), "\x00"))
}

// wwid is the world-wide identifier as the kernel prints it: "naa.5000...",
// "eui.0025...", "nvme.8086-...".
func wwid(fsys fs.FS, folder string) string {
	if s := text(fsys, folder, "wwid"); s != "" {
		return s
	}
	return text(fsys, folder, "device/wwid")
}

// wwn splits an identifier as udev does: NAA names become 0x numbers, the
// long ones with a vendor's extension; others are kept as they are. Text
// identifiers (t10) are no world-wide names.
func wwn(id string) (name, extension, whole string) {
	if id == "" || strings.HasPrefix(id, "t10.") {
		return "", "", ""
	}
	digits, naa := strings.CutPrefix(id, "naa.")
	switch {
	case !naa:
		return id, "", id
	case len(digits) == 32:
		return "0x" + digits[:16], "0x" + digits[16:], "0x" + digits
	default:
		return "0x" + digits, "", "0x" + digits
	}
}
