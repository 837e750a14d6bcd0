package dhcp

import (
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// ports are the two UDP ports of DHCP; only tests use others than 67 and 68.
type ports struct{ server, client uint16 }

// route is where a reply goes.
type route struct {
	to  netip.AddrPort
	mac net.HardwareAddr // not nil: straight to this machine, which cannot answer ARP yet
}

// broadcast is the limited broadcast address.
func broadcast() netip.Addr { return netip.AddrFrom4([4]byte{255, 255, 255, 255}) }

// destination says where a reply goes (RFC 2131 section 4.1): to the relay, to the
// address the client already uses, to everybody, or to a client that has an
// address from this reply only.
func destination(p *dhcpv4.DHCPv4, pt ports) route {
	if relay := addr(p.GatewayIPAddr); relay.IsValid() {
		return route{to: netip.AddrPortFrom(relay, pt.server)}
	}
	at := func(a netip.Addr) netip.AddrPort { return netip.AddrPortFrom(a, pt.client) }
	if messageType(p) == dhcpv4.MessageTypeNak {
		return route{to: at(broadcast())}
	}
	if ip := addr(p.ClientIPAddr); ip.IsValid() {
		return route{to: at(ip)}
	}
	if yours := addr(p.YourIPAddr); yours.IsValid() && !p.IsBroadcast() {
		return route{to: at(yours), mac: p.ClientHWAddr}
	}
	return route{to: at(broadcast())}
}
