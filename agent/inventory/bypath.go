package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// byPath is the name udev's path_id gives a disk after where it is plugged in
// (/dev/disk/by-path/...); "" for a disk it names none for, as behind eMMC
// readers and NVMe multipathing. There is no udev in the ramdisk, but people
// write root device hints with these names.
func byPath(fsys fs.FS, link string) string {
	name := ""
	switch transport(fsys, link) {
	case "virtio":
		if platform := match(link, `/platform/([^/]+)/virtio`); platform != "" {
			return "platform-" + platform
		}
		return whole("pci-", pciAddress(link))
	case "nvme":
		name = whole("nvme-", text(fsys, "sys/block", link, "nsid")) // not the number in the disk's name
	case "sata", "ata":
		name = ataPath(fsys, link)
	case "sas":
		name = sasPath(fsys, link)
	case "fc":
		port := text(fsys, "sys/class/fc_transport", match(link, `/(target[\d:]+)/`), "port_name")
		name = whole("fc-", port, lun(link))
	case "iscsi":
		name = iscsiPath(fsys, link)
		if pciAddress(link) == "" {
			return name // over the machine's own network
		}
	case "usb":
		name = whole("usb-0:", match(link, `/\d+-([\d.]+:[\d.]+)/`), whole("scsi-", scsiAddress(fsys, link)))
	case "", "spi":
		name = whole("scsi-", scsiAddress(fsys, link))
	}
	if pci := pciAddress(link); pci != "" && name != "" {
		return "pci-" + pci + "-" + name
	}
	return ""
}

// whole puts a name together; "" when a part of it is not known.
func whole(prefix string, parts ...string) string {
	if slices.Contains(parts, "") {
		return ""
	}
	return prefix + strings.Join(parts, "-")
}

// ataPath is a disk's port on its controller: the kernel counts ports over all
// controllers in its names. Of the two disks of a cable the second has its
// number behind it, and behind a port multiplier every one; for others udev has
// both forms, and this is the older.
func ataPath(fsys fs.FS, link string) string {
	host := match(link, `^(.*/ata\d+)/`)
	port := text(fsys, "sys/block", host, "ata_port", path.Base(host), "port_no")
	bus, target := match(link, `/\d+:(\d+):\d+:\d+/`), match(link, `/\d+:\d+:(\d+):\d+/`)
	switch {
	case port == "":
		return ""
	case bus != "0":
		return "ata-" + port + "." + bus + ".0"
	case target != "0":
		return "ata-" + port + "." + target
	}
	return "ata-" + port
}

// sasPath is the phy that a SAS disk hangs on, and the expander that one is of;
// a disk with several goes by its address.
func sasPath(fsys fs.FS, link string) string {
	device := func(name, attribute string) string { return text(fsys, "sys/class/sas_device", name, attribute) }
	end := match(link, `/(end_device-[\d:]+)/`)
	if text(fsys, "sys/class/sas_port", match(link, `/(port-[\d:]+)/end_device-`), "num_phys") != "1" {
		return whole("sas-", device(end, "sas_address"), lun(link))
	}
	phy := whole("phy", device(end, "phy_identifier"))
	if expander := match(link, `/(expander-[\d:]+)/port-[\d:]+/end_device-`); expander != "" {
		return whole("sas-exp", device(expander, "sas_address"), phy, lun(link))
	}
	return whole("sas-", phy, lun(link))
}

// iscsiPath is the target of a disk that comes over the network.
func iscsiPath(fsys fs.FS, link string) string {
	session := match(link, `/session(\d+)/`)
	of := func(class, name, attribute string) string { return text(fsys, "sys/class", class, name, attribute) }
	connection := "connection" + session + ":0"
	address, port := of("iscsi_connection", connection, "persistent_address"), of("iscsi_connection", connection,
		"persistent_port")
	if address == "" || port == "" {
		return ""
	}
	return whole("ip-", address+":"+port, "iscsi", of("iscsi_session", "session"+session, "targetname"), lun(link))
}

// lun is a logical unit's number as udev writes it: large numbers belong to a hierarchy, and are hexadecimal.
func lun(link string) string {
	n, err := strconv.ParseUint(match(link, `/\d+:\d+:\d+:(\d+)/`), 10, 64)
	switch {
	case err != nil:
		return ""
	case n < 256:
		return "lun-" + strconv.FormatUint(n, 10)
	}
	return fmt.Sprintf("lun-0x%04x%04x00000000", n&0xffff, n>>16&0xffff)
}

// scsiAddress is a disk's SCSI address with its host counted from the
// controller's first, which does not change with the order of discovery.
func scsiAddress(fsys fs.FS, link string) string {
	above, number, rest := match(link, `^(.*)/host\d+/`), match(link, `/host(\d+)/`), match(link, `/\d+:(\d+:\d+:\d+)/`)
	host, err := strconv.Atoi(number)
	if err != nil || rest == "" {
		return ""
	}
	first := host
	for _, name := range names(fsys, "sys/block", above) {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "host")); err == nil && n < first {
			first = n
		}
	}
	return strconv.Itoa(host-first) + ":" + rest
}
