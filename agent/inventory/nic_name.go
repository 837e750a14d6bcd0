package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxName is the longest name of an interface (IFNAMSIZ less the NUL).
const maxName = 15

// predictableName is the name that systemd gives an interface: the first of its names by the firmware's index
// (eno1), by the slot (ens1f0) and by the place on the bus (enp3s0f1np1) that is not too long; "" where systemd keeps
// the kernel's name. See systemd.net-naming-scheme(7), version 252, and NamePolicy= of its 99-default.link. Virtual
// functions of SR-IOV have no name here.
func predictableName(fsys fs.FS, name string) string {
	folder := path.Join("sys/class/net", name)
	n := nicPlace{fsys: fsys, prefix: namePrefix(fsys, folder), port: portSuffix(fsys, folder)}
	if n.prefix == "" || !n.find(path.Join("sys/class/net", linkOf(fsys, folder))) || exists(fsys, n.device("physfn")) {
		return ""
	}
	for _, suffix := range []string{n.onboard(), n.slot(), n.path()} {
		if full := n.prefix + suffix; suffix != "" && len(full) <= maxName {
			return full
		}
	}
	return ""
}

// namePrefix is the kind of an interface: Ethernet, InfiniBand, wireless LAN or WAN.
func namePrefix(fsys fs.FS, folder string) string {
	kind := text(fsys, folder, "uevent")
	switch {
	case strings.Contains(kind, "DEVTYPE=wlan"):
		return "wl"
	case strings.Contains(kind, "DEVTYPE=wwan"):
		return "ww"
	case number(fsys, folder, "type") == infinibandType:
		return "ib"
	case number(fsys, folder, "type") == etherType:
		return "en"
	}
	return ""
}

// portSuffix distinguishes the ports of one function: by the driver's name for the port, else by its number.
func portSuffix(fsys fs.FS, folder string) string {
	if port := text(fsys, folder, "phys_port_name"); port != "" {
		return "n" + port
	}
	port := number(fsys, folder, "dev_port")
	if port == 0 && number(fsys, folder, "type") == infinibandType {
		port, _ = strconv.ParseInt(text(fsys, folder, "dev_id"), 0, 64)
	}
	if port > 0 {
		return fmt.Sprintf("d%d", port)
	}
	return ""
}

// nicPlace is where an interface is in the machine.
type nicPlace struct {
	fsys         fs.FS
	prefix, port string
	chain        []string // PCI functions on the way, the host bridge's first
	usb          string   // ports below the last of them, as u1u2
	domain       uint64
	bus          uint64
	dev          uint64
	function     uint64
}

var (
	pciFunction = regexp.MustCompile(`^([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-9a-f])$`)
	usbPort     = regexp.MustCompile(`^\d+-([0-9.]+):(\d+)\.(\d+)$`)
	virtioPart  = regexp.MustCompile(`^virtio\d+$`)
)

// find reads the place out of a sysfs path. It reports whether it is one by which systemd names: on a PCI function,
// perhaps by virtio, or on USB.
func (n *nicPlace) find(link string) bool {
	parts := strings.Split(strings.TrimSuffix(path.Dir(link), "/net"), "/")
	if last := len(parts) - 1; last > 0 && virtioPart.MatchString(parts[last]) {
		parts = parts[:last]
	}
	for _, part := range parts {
		if pciFunction.MatchString(part) {
			n.chain = append(n.chain, part)
		}
	}
	if len(n.chain) == 0 {
		return false
	}
	own := n.chain[len(n.chain)-1]
	if last := parts[len(parts)-1]; last != own {
		m := usbPort.FindStringSubmatch(last)
		if m == nil {
			return false
		}
		n.usb = "u" + strings.ReplaceAll(m[1], ".", "u")
		if m[2] != "1" {
			n.usb += "c" + m[2]
		}
		if m[3] != "0" {
			n.usb += "i" + m[3]
		}
	}
	m := pciFunction.FindStringSubmatch(own)
	for i, to := range []*uint64{&n.domain, &n.bus, &n.dev, &n.function} {
		*to, _ = strconv.ParseUint(m[i+1], 16, 32) // the pattern has hexadecimal digits
	}
	if text(n.fsys, n.device("ari_enabled")) == "1" { // device and function are one number
		n.function += n.dev * 8
	}
	return true
}

// device is a file of the interface's PCI function.
func (n *nicPlace) device(file string) string {
	return path.Join("sys/bus/pci/devices", n.chain[len(n.chain)-1], file)
}

// onboard is the name by the index that ACPI or SMBIOS gives a device of the board.
func (n *nicPlace) onboard() string {
	if n.usb != "" {
		return ""
	}
	const most = 1<<14 - 1 // larger ones are not meant: systemd's ONBOARD_14BIT_INDEX_MAX
	for _, file := range []string{"acpi_index", "index"} {
		if said := text(n.fsys, n.device(file)); said != "" {
			if index, err := strconv.ParseUint(said, 10, 32); err == nil && index <= most {
				return fmt.Sprintf("o%d%s", index, n.port)
			}
			return ""
		}
	}
	return ""
}

// slot is the name by the number of the card's slot. A bridge's slot on the way belongs to several cards, and names
// none.
func (n *nicPlace) slot() string {
	numbers := names(n.fsys, "sys/bus/pci/slots")
	slices.Sort(numbers)
	for _, device := range slices.Backward(n.chain) {
		for _, name := range numbers {
			number, err := strconv.ParseUint(name, 10, 32)
			if err != nil || number == 0 {
				continue
			}
			address := text(n.fsys, "sys/bus/pci/slots", name, "address")
			if address == "" || !strings.HasPrefix(device, address+".") && device != address {
				continue
			}
			if strings.HasPrefix(text(n.fsys, "sys/bus/pci/devices", device, "class"), "0x0604") {
				return ""
			}
			return n.inDomain(fmt.Sprintf("s%d", number))
		}
	}
	return ""
}

// path is the name by the numbers of bus and device.
func (n *nicPlace) path() string { return n.inDomain(fmt.Sprintf("p%ds%d", n.bus, n.dev)) }

// inDomain adds the PCI domain in front of a place, and the suffix behind it.
func (n *nicPlace) inDomain(place string) string {
	if n.domain > 0 {
		place = fmt.Sprintf("P%d%s", n.domain, place)
	}
	if n.function > 0 || n.multifunction() {
		place += fmt.Sprintf("f%d", n.function)
	}
	return place + n.port + n.usb
}

// multifunction reports whether the device has several functions, by its configuration header or by another function
// that is there.
func (n *nicPlace) multifunction() bool {
	const headerType, several = 0x0e, 0x80
	if config, err := fs.ReadFile(n.fsys, n.device("config")); err == nil && len(config) > headerType {
		return config[headerType]&several != 0
	}
	own := n.chain[len(n.chain)-1]
	return slices.ContainsFunc(names(n.fsys, "sys/bus/pci/devices"), func(other string) bool {
		return other != own && strings.HasPrefix(other, own[:len(own)-1])
	})
}
