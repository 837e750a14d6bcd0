package inventory

import (
	"cmp"
	"io/fs"
	"net/netip"
	"path"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Values of sys/class/net/X/type (ARPHRD_...).
const (
	etherType      = 1
	infinibandType = 32
)

// Interfaces lists the machine's own network interfaces: each has a device. Bridges,
// tunnels, loopback and the BMC's interface are left out.
func Interfaces(fsys fs.FS, addresses func(name string) []netip.Addr) (list []agentapi.Interface, skipped []Skipped) {
	list = []agentapi.Interface{}
	own, skipped := ownInterfaces(fsys)
	for _, name := range own {
		folder := path.Join("sys/class/net", name)
		i := agentapi.Interface{
			Name:       name,
			MACAddress: macAddress(fsys, folder),
			HasCarrier: text(fsys, folder, "carrier") == "1",
			Vendor:     text(fsys, folder, "device/vendor"),
			Product:    text(fsys, folder, "device/device"),
			PCIAddress: pciAddress(linkOf(fsys, folder)),
			Driver:     strings.Trim(path.Base(linkOf(fsys, folder, "device/driver")), "."), // Base of nothing is "."
			// a client of the inventory can name the interface in network data as the installed system does
			PredictableName: predictableName(fsys, name),
			BIOSDevName:     biosDevName(fsys, pciAddress(linkOf(fsys, folder))),
		}
		if number(fsys, folder, "type") == infinibandType {
			i.MACAddress, i.ClientID = infiniband(i.MACAddress)
		}
		if speed := number(fsys, folder, "speed"); speed > 0 { // -1 without a link
			i.SpeedMbps = int(speed)
		}
		i.IPv4Address, i.IPv6Address = bestAddresses(addresses(name))
		list = append(list, i)
	}
	return list, skipped
}

// macAddress is a card's own: in a bond it has the bond's, which several cards share.
func macAddress(fsys fs.FS, folder string) string {
	return strings.ToLower(cmp.Or(text(fsys, folder, "bonding_slave/perm_hwaddr"), text(fsys, folder, "address")))
}

// ownInterfaces are the names of the machine's own interfaces.
func ownInterfaces(fsys fs.FS) (own []string, skipped []Skipped) {
	table, _ := smbios(fsys)
	hosts := hostInterfaces(table)
	for _, name := range names(fsys, "sys/class/net") {
		folder := path.Join("sys/class/net", name)
		kind := number(fsys, folder, "type")
		if !exists(fsys, folder, "device") || kind != etherType && kind != infinibandType {
			continue
		}
		if reason := bmcNIC(fsys, folder, strings.ToLower(text(fsys, folder, "address")), hosts); reason != "" {
			skipped = append(skipped, Skipped{Name: name, Reason: reason})
			continue
		}
		own = append(own, name)
	}
	return own, skipped
}

// Wired are the names of the machine's own interfaces with a link.
func Wired(fsys fs.FS) []string {
	var wired []string
	own, _ := ownInterfaces(fsys)
	for _, name := range own {
		if text(fsys, "sys/class/net", name, "carrier") == "1" {
			wired = append(wired, name)
		}
	}
	return wired
}

// MACs are the addresses a lookup is made with.
func MACs(fsys fs.FS) []string {
	list, _ := Interfaces(fsys, func(string) []netip.Addr { return nil })
	return agentapi.Inventory{Interfaces: list}.MACs()
}

// bestAddresses picks one of each kind: a global one before a link-local one.
func bestAddresses(all []netip.Addr) (v4, v6 string) {
	for _, a := range all {
		switch {
		case a.Is4() && v4 == "":
			v4 = a.String()
		case a.Is6() && (v6 == "" || !a.IsLinkLocalUnicast() && strings.HasPrefix(v6, "fe80")):
			v6 = a.WithZone("").String()
		}
	}
	return v4, v6
}

// biosDevName is the name the firmware gives an interface on the board: the
// kernel has the number of SMBIOS type 41 as index, which biosdevname writes
// em1, em2.
func biosDevName(fsys fs.FS, pci string) string {
	if index := text(fsys, "sys/bus/pci/devices", pci, "index"); pci != "" && index != "" {
		return "em" + index
	}
	return ""
}

// infiniband converts an InfiniBand address of 20 bytes as ironic-python-agent does:
// into the MAC address that Ethernet over the same port has, and the client identifier
// of its DHCP requests. Other addresses are unchanged.
func infiniband(address string) (mac, clientID string) {
	const prefix = "ff:00:00:00:00:00:02:00:00:02:c9:00:" // Mellanox
	b := strings.Split(address, ":")
	if len(b) != 20 {
		return address, ""
	}
	mac = strings.Join(append(append([]string{}, b[12:15]...), b[17:]...), ":")
	return mac, prefix + strings.Join(b[12:], ":")
}

// pciAddress is the last PCI function a sysfs path goes through; "" for a
// device on no PCI bus.
func pciAddress(link string) string {
	function := regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$`)
	found := ""
	for part := range strings.SplitSeq(link, "/") {
		if function.MatchString(part) {
			found = part
		}
	}
	return found
}
