package inventory

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// sectorSize is the unit of sysfs's sizes, whatever the disk's own sectors.
const sectorSize = 512

// Disks lists the whole disks by name. A disk with several paths is listed once, by
// the best of them. Devices that are no disks are left out with the reason: memory,
// loops, optical and floppy drives, the BMC's virtual media, mappings, members of
// arrays, further paths.
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

// notADisk says why a block device is left out; "" when it is not.
func notADisk(fsys fs.FS, name string) string {
	folder := path.Join("sys/block", name)
	kinds := []struct {
		pattern *regexp.Regexp
		reason  string
	}{
		{notHardware(), agentapi.NotHardware},
		{regexp.MustCompile(`^(sr|scd)\d`), "optical drive"},
		{regexp.MustCompile(`^fd\d`), "floppy drive"},
		{regexp.MustCompile(`^dm-\d`), "mapping onto other disks"},
		{regexp.MustCompile(`^md(\d|_)`), "array of other disks"},
		{regexp.MustCompile(`^mmcblk\d+(boot\d+|rpmb|gp\d+)$`), "special area of an eMMC"},
	}
	for _, k := range kinds {
		if k.pattern.MatchString(name) {
			return k.reason
		}
	}
	switch {
	case text(fsys, folder, "hidden") == "1":
		return "path of a multipath disk"
	case number(fsys, folder, "size") == 0:
		return "no medium"
	case virtualMedia(fsys, folder):
		return "virtual media"
	}
	return ""
}

// notHardware are block devices that there is no machine part behind.
func notHardware() *regexp.Regexp { return regexp.MustCompile(`^(loop|ram|zram|nbd)\d`) }

// virtualMedia recognises the drives that BMCs show over USB, as seen on iDRAC
// ("Virtual CD", "Virtual Floppy"; its own card is "LCDRIVE" of an "iDRAC"), AMI
// MegaRAC ("Virtual HDISK0"), iLO ("Virtual Media", "Virtual DVD-ROM") and XCC, and
// devices whose names mention a BMC.
func virtualMedia(fsys fs.FS, folder string) bool {
	link := linkOf(fsys, folder)
	if transport(fsys, link) != "usb" {
		return false
	}
	u, _ := usbBehind(fsys, "sys/block", link)
	return strings.Contains(strings.ToLower(text(fsys, folder, "device/model")), "virtual") || bmcName(u) != ""
}

// memberOf is the Linux RAID array a disk or one of its partitions belongs
// to.
func memberOf(fsys fs.FS, folder string) string {
	parts := slices.DeleteFunc(names(fsys, folder),
		func(s string) bool { return !strings.HasPrefix(s, path.Base(folder)) })
	for _, sub := range append(parts, ".") {
		for _, holder := range names(fsys, folder, sub, "holders") {
			if strings.HasPrefix(holder, "md") {
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
	}
	d.WWN, d.WWNVendorExtension, d.WWNWithExtension = wwn(wwid(fsys, folder))
	if p := byPath(fsys, link); p != "" {
		d.ByPath = "/dev/disk/by-path/" + p
	}
	return d
}

// serial reads each kind of disk at its place: virtio-blk beside the disk, NVMe with
// the controller, USB with the USB device (as udev has it), SCSI and ATA in vital
// product data page 80h, whose first four bytes are its header.
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
