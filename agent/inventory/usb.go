package inventory

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const usbDevices = "sys/bus/usb/devices"

// usbHub is the class of hubs, which only pass on (USB class 09h).
const usbHub = "09"

// USBDevices lists the devices on the USB ports, without hubs (collector usb-devices).
// A device without a name has its ids as name.
func USBDevices(fsys fs.FS) []agentapi.USBDevice {
	list := []agentapi.USBDevice{}
	for _, name := range names(fsys, usbDevices) {
		u := usbOf(fsys, path.Join(usbDevices, name))
		// an interface, a hub
		if strings.Contains(name, ":") || u.vendorID == "" || text(fsys, usbDevices, name, "bDeviceClass") == usbHub {
			continue
		}
		bus, device := number(fsys, usbDevices, name, "busnum"), number(fsys, usbDevices, name, "devnum")
		d := agentapi.USBDevice{Product: u.product, Vendor: u.vendor, Handle: fmt.Sprintf("USB:%x:%x", bus, device)}
		if d.Product == "" {
			d.Product = u.productID
		}
		if d.Vendor == "" {
			d.Vendor = u.vendorID
		}
		list = append(list, d)
	}
	return list
}

// usb is a USB device's description of itself; ids are four hexadecimal digits.
type usb struct{ vendorID, productID, vendor, product, serial string }

func usbOf(fsys fs.FS, folder string) usb {
	of := func(name string) string { return text(fsys, folder, name) }
	return usb{of("idVendor"), of("idProduct"), of("manufacturer"), of("product"), of("serial")}
}

// usbBehind is the USB device that a sysfs path, taken from its folder, goes
// through last.
func usbBehind(fsys fs.FS, folder, link string) (u usb, ok bool) {
	m := regexp.MustCompile(`^(.*/\d+-[\d.]+)/\d+-[\d.]+:[\d.]+/`).FindStringSubmatch(link)
	if m == nil {
		return usb{}, false
	}
	return usbOf(fsys, path.Join(folder, m[1])), true
}
