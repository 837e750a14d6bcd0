package dhcp

import "github.com/insomniacslk/dhcp/dhcpv4"

// Tags of option 43 as PXE 2.1 has them, table 2-1.
const (
	pxeDiscoveryControl = 6
	pxeBootMenu         = 9
	pxeMenuPrompt       = 10
	pxeEnd              = 255
)

// localBoot makes a PXE ROM boot from its next device at once. UEFI firmware (EDK2, and so
// most of it) takes an offer without a boot file for none at all: it asks again for a minute
// before it goes on. PXE's means for this is a boot menu with one entry of type 0, local
// boot, and a timeout of 0 seconds.
func localBoot(p *dhcpv4.DHCPv4) {
	const entry, noServers = "Local boot", 0x07 // no discovery of boot servers by any means
	menu := []byte{
		pxeDiscoveryControl, 1, noServers,
		pxeBootMenu, 3 + byte(len(entry)), 0, 0, byte(len(entry)),
	}
	menu = append(menu, entry...)
	menu = append(menu, pxeMenuPrompt, 1+byte(len(entry)), 0)
	menu = append(menu, entry...)
	p.UpdateOption(dhcpv4.OptGeneric(dhcpv4.OptionVendorSpecificInformation, append(menu, pxeEnd)))
	p.UpdateOption(dhcpv4.OptClassIdentifier(classPXE)) // without it option 43 is not PXE's
}
