package inventory

import (
	"fmt"
	"io/fs"
	"net"
	"path"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// bmcNICs are the network cards BMCs show to their machine over USB, by vendor
// and product, as seen on machines. Many have the same MAC address in every
// machine, so that a port made of one would belong to many nodes.
func bmcNICs() map[[2]string]string {
	return map[[2]string]string{
		{"413c", "a102"}: "iDRAC",       // Dell's OS to iDRAC pass-through
		{"04b3", "4010"}: "IMM or XCC",  // IBM's and Lenovo's
		{"046b", "ffb0"}: "AMI MegaRAC", // American Megatrends Virtual Ethernet, on boards of many vendors
		{"0b1f", "03ee"}: "Insyde",      // boards of Supermicro and others
	}
}

// bmcName finds devices that name a BMC: "iDRAC Virtual NIC USB Device", "HPE iLO Virtual NIC", "XClarity Controller",
// OpenBMC's gadgets, and any device on the virtual hub of ASPEED's BMC chips ("Linux 5.4.62 with aspeed_vhub").
func bmcName(u usb) string {
	return regexp.MustCompile(
		`(?i)\bidrac|\bilo\b|\bxclarity|\bxcc\b|openbmc|megarac|\bbmc\b|american megatrends|\baten\b|aspeed|ast_vhub|` +
			`virtual (nic|ethernet|media|cdrom|hdisk|floppy|disk)`).
		FindString(u.vendor + " " + u.product)
}

// bmcNIC returns the reason why an interface is the BMC's; "" for a card of the
// machine. hosts are the firmware's entries of such interfaces.
func bmcNIC(fsys fs.FS, folder, mac string, hosts []hostInterface) string {
	u, isUSB := usbBehind(fsys, "sys/class/net", linkOf(fsys, folder))
	for _, h := range hosts {
		if h.mac != "" && h.mac == mac || isUSB && h.mac == "" && h.vendorID == u.vendorID && h.productID == u.productID {
			return "the BMC's network card: SMBIOS names it as the machine's way to Redfish"
		}
	}
	if !isUSB {
		return ""
	}
	if name := bmcNICs()[[2]string{u.vendorID, u.productID}]; name != "" {
		return "the BMC's network card: " + name
	}
	if name := bmcName(u); name != "" {
		return fmt.Sprintf("the BMC's network card: it calls itself %q, %q", u.vendor, u.product)
	}
	return ""
}

// BMCCard returns why an interface is the BMC's card and none of the machine's own; "" for
// the machine's own.
func BMCCard(fsys fs.FS, name string) string {
	folder := path.Join("sys/class/net", name)
	table, _ := smbios(fsys)
	return bmcNIC(fsys, folder, strings.ToLower(text(fsys, folder, "address")), hostInterfaces(table))
}

// hostInterface is a way to the BMC's Redfish service (DSP0270 1.3, 8.2 and 8.3).
type hostInterface struct{ vendorID, productID, mac string }

// hostInterfaces reads those that are network cards.
func hostInterfaces(table []structure) []hostInterface {
	const networkHostInterface, usbDevice, usbDeviceV2, pciDeviceV2 = 0x40, 2, 4, 5
	var list []hostInterface
	for _, s := range table {
		kind, _ := s.u8(4)
		device, ok := s.u8(6)
		if s.kind != smbiosHostInterface || kind != networkHostInterface || !ok {
			continue
		}
		switch device {
		case usbDevice:
			vendor, _ := s.u16(7)
			if product, ok := s.u16(9); ok {
				list = append(list, hostInterface{vendorID: fmt.Sprintf("%04x", vendor), productID: fmt.Sprintf("%04x", product)})
			}
		case usbDeviceV2: // its length, ids, serial number, MAC address
			vendor, _ := s.u16(8)
			if product, ok := s.u16(10); ok {
				list = append(list, hostInterface{fmt.Sprintf("%04x", vendor), fmt.Sprintf("%04x", product), macAt(s, 13)})
			}
		case pciDeviceV2: // its length, four ids, MAC address
			if mac := macAt(s, 16); mac != "" {
				list = append(list, hostInterface{mac: mac})
			}
		}
	}
	return list
}

// macAt reads a MAC address; "" when the firmware has left it out.
func macAt(s structure, at int) string {
	if len(s.data) < at+6 {
		return ""
	}
	return placeholder.MAC(net.HardwareAddr(s.data[at : at+6]).String())
}
