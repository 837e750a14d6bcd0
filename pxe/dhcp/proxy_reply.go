package dhcp

import (
	"cmp"
	"net"
	"net/netip"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// bootFileAtOnce is PXE's discovery control (PXE 2.1, table 2-1, tag 6) for: fetch the boot file
// that this answer names, with no menu and no search for boot servers.
const bootFileAtOnce = 0x08

// ProxyReply builds the answer of a proxyDHCP server, which names a boot file beside the DHCP server that gives the
// address (PXE 2.1, section 2.2.3). It returns nil and the reason for silence. boot is the Booter's decision. bootPort
// is true for a request to port 4011, where firmware that has its address asks once more.
//
// A machine that is not to boot gets no answer: its firmware then has only an address, and goes on to its next device.
// A client that is no firmware gets none either.
func ProxyReply(req *dhcpv4.DHCPv4, boot pxe.Boot, a Answer, bootPort bool) (*dhcpv4.DHCPv4, pxe.Reason) {
	c := clientOf(req)
	if reason := bootless(c, boot, a.URL); c.Firmware == pxe.System || reason != "" {
		return nil, cmp.Or(reason, pxe.ReasonSystem)
	}
	file, _ := bootFile(c, boot, a.URL)
	t := dhcpv4.MessageTypeOffer
	switch asks := messageType(req); {
	case bootPort && (asks == dhcpv4.MessageTypeRequest || asks == dhcpv4.MessageTypeInform):
		t = dhcpv4.MessageTypeAck
	case bootPort:
		return nil, pxe.ReasonMalformed
	case asks != dhcpv4.MessageTypeDiscover: // for the server that gives the address
		return nil, pxe.ReasonOtherServer
	}
	p := blank(req, a, t)
	if t == dhcpv4.MessageTypeAck {
		p.ClientIPAddr = req.ClientIPAddr
	}
	name(p, c, file, a)
	if c.Firmware != pxe.UEFIHTTP {
		p.UpdateOption(dhcpv4.OptClassIdentifier(classPXE)) // by it firmware knows a proxy's answer
		p.UpdateOption(dhcpv4.OptGeneric(dhcpv4.OptionVendorSpecificInformation,
			[]byte{pxeDiscoveryControl, 1, bootFileAtOnce, pxeEnd}))
	}
	return p, ""
}

// proxyDestination says where the answer of a proxy goes: to the relay, to the address that asks on
// port 4011, or to the whole link, since the machine has no address of ours.
func proxyDestination(reply *dhcpv4.DHCPv4, peer netip.AddrPort, bootPort bool, pt ports) route {
	if relay := addr(reply.GatewayIPAddr); relay.IsValid() {
		return route{to: netip.AddrPortFrom(relay, pt.server)}
	}
	if bootPort {
		return route{to: netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())}
	}
	reply.SetBroadcast()
	return route{to: netip.AddrPortFrom(broadcast(), pt.client)}
}

// name names the boot file, where each kind of firmware looks for it.
func name(p *dhcpv4.DHCPv4, c pxe.Client, file string, a Answer) {
	p.ServerIPAddr = net.IP(a.Server.AsSlice())
	p.UpdateOption(dhcpv4.OptBootFileName(file))
	if len(file) < 128 { // the field old ROMs read; a longer name stands in option 67 alone
		p.BootFileName = file
	}
	if c.Firmware == pxe.UEFIHTTP {
		// The firmware drops offers that do not repeat its class (UEFI 2.10 section 24.7.3.1).
		p.UpdateOption(dhcpv4.OptClassIdentifier(classHTTP))
		return
	}
	p.UpdateOption(dhcpv4.OptTFTPServerName(a.Server.String()))
}
