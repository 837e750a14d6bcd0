package dhcp

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
)

const (
	maxPacket = 1500 // an Ethernet frame's worth; no client sends more
	maxHops   = 16   // RFC 1542 section 4.1.1
)

// parse reads a DHCP request from a datagram. The error says why the datagram
// is none that a server answers.
func parse(b []byte) (*dhcpv4.DHCPv4, error) {
	if len(b) > maxPacket {
		return nil, fmt.Errorf("dhcp packet of more than %d bytes", maxPacket)
	}
	p, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("malformed dhcp packet of %d bytes: %w", len(b), err)
	}
	if p.HWType == iana.HWTypeInfiniband {
		p.ClientHWAddr = infiniBandMAC(p)
	}
	switch {
	case p.OpCode != dhcpv4.OpcodeBootRequest:
		return nil, fmt.Errorf("dhcp opcode %v, expected a request", p.OpCode)
	case p.HWType != iana.HWTypeEthernet && p.HWType != iana.HWTypeInfiniband || len(p.ClientHWAddr) != 6:
		return nil, fmt.Errorf("dhcp hardware type %v with an address of %d bytes, expected Ethernet, or InfiniBand with a "+
			"client identifier that ends in a GUID", p.HWType, len(p.ClientHWAddr))
	case hwaddr(p.ClientHWAddr) == hwaddr{} || p.ClientHWAddr[0]&1 != 0:
		return nil, fmt.Errorf("dhcp hardware address %v is not one of a single machine", p.ClientHWAddr)
	case p.HopCount > maxHops:
		return nil, fmt.Errorf("dhcp packet went through %d relays", p.HopCount)
	}
	switch t := messageType(p); t {
	case dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeRequest, dhcpv4.MessageTypeDecline,
		dhcpv4.MessageTypeRelease, dhcpv4.MessageTypeInform:
		return p, nil
	default:
		return nil, fmt.Errorf("dhcp message type %v is not for a server", t)
	}
}

// infiniBandMAC returns the MAC address that stands for an InfiniBand port, since the port's own address does not fit
// a request (RFC 4390): the first and last three bytes of the GUID at the end of the client identifier. Ironic writes
// ports of nodes in the same way. It returns nil for a request without such an identifier.
func infiniBandMAC(p *dhcpv4.DHCPv4) net.HardwareAddr {
	id := p.Options.Get(dhcpv4.OptionClientIdentifier)
	if len(id) < 9 { // a type, and a GUID
		return nil
	}
	guid := id[len(id)-8:]
	return net.HardwareAddr{guid[0], guid[1], guid[2], guid[5], guid[6], guid[7]}
}

// echoed lists the options a reply repeats: the client identifier (RFC 6842), the machine's GUID (PXE 2.1: ROMs drop
// answers without it) and the relay's option (RFC 3046).
func echoed() []dhcpv4.OptionCode {
	return []dhcpv4.OptionCode{
		dhcpv4.OptionClientIdentifier,
		dhcpv4.OptionClientMachineIdentifier,
		dhcpv4.OptionRelayAgentInformation,
	}
}

// messageType is option 53. It is asked for often: the library's own look allocates.
func messageType(p *dhcpv4.DHCPv4) dhcpv4.MessageType {
	if v := p.Options.Get(dhcpv4.OptionDHCPMessageType); len(v) == 1 {
		return dhcpv4.MessageType(v[0])
	}
	return dhcpv4.MessageTypeNone
}

// addr converts an address of the library to a comparable one. The unspecified address and invalid ones become the
// zero Addr.
func addr(ip net.IP) netip.Addr {
	a, ok := netip.AddrFromSlice(ip.To4())
	if !ok || a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

// requestedIP is the address of a REQUEST: option 50, or ciaddr in a renewal.
func requestedIP(req *dhcpv4.DHCPv4) netip.Addr {
	if a := addr(req.RequestedIPAddress()); a.IsValid() {
		return a
	}
	return addr(req.ClientIPAddr)
}

// linkAddr is an address on the subnet the client sits on, by which the subnet
// is chosen: the relay's link selection (RFC 3527) or address, else the address a
// renewal comes from, else the server's own.
func linkAddr(req *dhcpv4.DHCPv4, server netip.Addr) netip.Addr {
	if relay := addr(req.GatewayIPAddr); relay.IsValid() {
		if info := req.RelayAgentInfo(); info != nil {
			if a := addr(info.Get(dhcpv4.LinkSelectionSubOption)); a.IsValid() {
				return a
			}
		}
		return relay
	}
	if a := addr(req.ClientIPAddr); a.IsValid() {
		return a
	}
	return server
}
