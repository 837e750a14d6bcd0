package inventory

import (
	"io/fs"
	"net/netip"
	"path"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// etherType is what sys/class/net/X/type says of Ethernet (ARPHRD_ETHER).
const etherType = 1

// Interfaces lists the machine's own Ethernet interfaces: those a device
// backs, not bridges, tunnels or loopback.
func Interfaces(fsys fs.FS, addresses func(name string) []netip.Addr) []agentapi.Interface {
	list := []agentapi.Interface{}
	for _, name := range names(fsys, "sys/class/net") {
		folder := path.Join("sys/class/net", name)
		if !exists(fsys, folder, "device") || number(fsys, folder, "type") != etherType {
			continue
		}
		i := agentapi.Interface{
			Name:       name,
			MACAddress: strings.ToLower(text(fsys, folder, "address")),
			HasCarrier: text(fsys, folder, "carrier") == "1",
			Vendor:     text(fsys, folder, "device/vendor"),
			Product:    text(fsys, folder, "device/device"),
			PCIAddress: pciAddress(linkOf(fsys, folder)),
			Driver:     path.Base(linkOf(fsys, folder, "device/driver")),
		}
		if i.Driver == "." {
			i.Driver = ""
		}
		if speed := number(fsys, folder, "speed"); speed > 0 { // -1 without a link
			i.SpeedMbps = int(speed)
		}
		i.IPv4Address, i.IPv6Address = bestAddresses(addresses(name))
		list = append(list, i)
	}
	return list
}

// MACs are the addresses a lookup is made with.
func MACs(fsys fs.FS) []string {
	var macs []string
	for _, i := range Interfaces(fsys, func(string) []netip.Addr { return nil }) {
		macs = append(macs, i.MACAddress)
	}
	return macs
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
