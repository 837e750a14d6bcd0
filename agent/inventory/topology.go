package inventory

import (
	"io/fs"
	"path"
	"regexp"
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

// transport is the bus of a disk, as lsblk's TRAN has it, from its path in sysfs. The
// nearest bus counts: a SATA disk behind a SAS controller goes through an end_device.
// Disks of other controllers (virtio-scsi, RAID) have none.
func transport(fsys fs.FS, link string) string {
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
	host := match(link, `^(.*/host\d+)/`)
	for _, k := range kinds {
		if !k.pattern.MatchString(link) {
			continue
		}
		// Drivers of parallel ATA (ata_piix, pata_...) say so in their name.
		driver := text(fsys, "sys/block", host, "scsi_host", path.Base(host), "proc_name")
		if k.kind == "sata" && driver != "" && !strings.HasPrefix(driver, "ahci") && !strings.HasPrefix(driver, "sata") {
			return "ata"
		}
		return k.kind
	}
	if host != "" && exists(fsys, "sys/block", host, "spi_host") {
		return "spi" // parallel SCSI
	}
	return ""
}

// match returns the first group of a pattern in s, "" without a match.
func match(s, pattern string) string {
	m := regexp.MustCompile(pattern).FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	return m[1]
}
