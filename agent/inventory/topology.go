package inventory

import (
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// hctl is host:channel:target:lun of a SCSI disk, from the link to its device.
func hctl(link string) string {
	base := path.Base(link)
	if regexp.MustCompile(`^\d+:\d+:\d+:\d+$`).MatchString(base) {
		return base
	}
	return ""
}

// transport is how a disk is attached, as lsblk's TRAN has it, from its path
// in sysfs. The nearest bus counts: a SATA disk behind a SAS controller goes
// through an end_device.
func transport(link string) string {
	kinds := []struct {
		pattern *regexp.Regexp
		kind    string
	}{
		{regexp.MustCompile(`/usb\d`), "usb"},
		{regexp.MustCompile(`/nvme`), "nvme"},
		{regexp.MustCompile(`/end_device-`), "sas"},
		{regexp.MustCompile(`/ata\d`), "sata"},
		{regexp.MustCompile(`/rport-`), "fc"},
		{regexp.MustCompile(`/session\d`), "iscsi"},
		{regexp.MustCompile(`/mmc\d`), "mmc"},
		{regexp.MustCompile(`/virtio\d+/block/`), "virtio"},
	}
	for _, k := range kinds {
		if k.pattern.MatchString(link) {
			return k.kind
		}
	}
	return ""
}

// byPath is the name udev gives a disk after where it is plugged in
// (/dev/disk/by-path/...), for PCI with virtio, NVMe, ATA, SCSI and USB; ""
// for anything else. There is no udev in the ramdisk, but people write root
// device hints with these names.
func byPath(fsys fs.FS, link string) string {
	pci := pciAddress(link)
	if pci == "" {
		return ""
	}
	suffix := ""
	switch transport(link) {
	case "virtio":
		return "pci-" + pci
	case "nvme":
		suffix = prefixed("-nvme-", match(link, `/nvme\d+n(\d+)$`))
	case "sata":
		suffix = prefixed("-ata-", ataPort(fsys, link))
	case "usb":
		if scsi := scsiAddress(fsys, link); scsi != "" {
			suffix = prefixed("-usb-0:", match(link, `/\d+-([\d.]+:[\d.]+)/`)) + "-scsi-" + scsi
		}
	case "":
		suffix = prefixed("-scsi-", scsiAddress(fsys, link))
	}
	if suffix == "" {
		return ""
	}
	return "pci-" + pci + suffix
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// ataPort is the port's number on its controller: the kernel counts ports
// over all controllers in its names.
func ataPort(fsys fs.FS, link string) string {
	m := regexp.MustCompile(`^(.*/(ata\d+))/`).FindStringSubmatch(link)
	if m == nil {
		return ""
	}
	return text(fsys, "sys/block", m[1], "ata_port", m[2], "port_no")
}

// scsiAddress is a disk's SCSI address with its host counted from the
// controller's first, which does not change with the order of discovery.
func scsiAddress(fsys fs.FS, link string) string {
	m := regexp.MustCompile(`^(.*)/host(\d+)/.*/\d+:(\d+:\d+:\d+)/`).FindStringSubmatch(link)
	if m == nil {
		return ""
	}
	host, err := strconv.Atoi(m[2])
	if err != nil {
		return ""
	}
	first := host
	for _, name := range names(fsys, "sys/block", m[1]) {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "host")); err == nil && n < first {
			first = n
		}
	}
	return strconv.Itoa(host-first) + ":" + m[3]
}

// match returns the first group of a pattern in s, "" without a match.
func match(s, pattern string) string {
	m := regexp.MustCompile(pattern).FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	return m[1]
}
