package inventory

import (
	"io/fs"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// SystemVendor is DMI's description of the machine.
func SystemVendor(fsys fs.FS) agentapi.SystemVendor {
	id := func(name string) string { return text(fsys, "sys/class/dmi/id", name) }
	return agentapi.SystemVendor{
		ProductName:  id("product_name"),
		SerialNumber: id("product_serial"),
		Manufacturer: id("sys_vendor"),
		Firmware:     agentapi.Firmware{Vendor: id("bios_vendor"), Version: id("bios_version"), BuildDate: id("bios_date")},
	}
}

// SystemUUID is DMI's UUID of the machine, in small letters; "" when it has none.
func SystemUUID(fsys fs.FS) string {
	return strings.ToLower(text(fsys, "sys/class/dmi/id", "product_uuid"))
}
