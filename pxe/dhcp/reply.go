// Package dhcp leases addresses and names boot files: a DHCPv4 server (RFC 2131, 2132) with a pool, reservations and
// relays. Two files decide without I/O: reply.go from one request, pool.go from the leases. serve.go, wire.go,
// overhear.go and prober.go have sockets.
//
// It must not know the purpose of a machine: pxe.Booter says whether it is ours and whether it boots. A machine that
// is not ours gets no answer at all.
package dhcp

import (
	"bytes"
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
)

// Answer describes the server and the client's subnet for a reply.
type Answer struct {
	Server netip.Addr // server identifier, next server and TFTP server
	URL    string     // base of boot HTTP, no slash at the end
	Subnet Subnet     // the one the client sits on
}

// Reply builds the answer to req. It returns nil when the server stays silent; the reason explains silence or refusal.
// lease is the machine's own lease or offer; if it has none, another machine's lease of the requested address;
// otherwise zero. Reply has no side effects: the caller binds the address.
func Reply(req *dhcpv4.DHCPv4, boot pxe.Boot, lease pxe.Lease, a Answer) (*dhcpv4.DHCPv4, pxe.Reason) {
	if boot.Action == pxe.Ignore {
		return nil, boot.Why
	}
	switch messageType(req) {
	case dhcpv4.MessageTypeDiscover:
		if !lease.IP.IsValid() {
			return nil, pxe.ReasonPoolEmpty
		}
		return offerOrAck(req, boot, lease, a, dhcpv4.MessageTypeOffer), ""
	case dhcpv4.MessageTypeRequest:
		return toRequest(req, boot, lease, a)
	case dhcpv4.MessageTypeInform:
		if !addr(req.ClientIPAddr).IsValid() {
			return nil, pxe.ReasonNoAddress
		}
		p := blank(req, a, dhcpv4.MessageTypeAck)
		p.ClientIPAddr = req.ClientIPAddr
		network(p, a.Subnet)
		bootOptions(p, req, boot, a)
		return p, ""
	default:
		return nil, pxe.ReasonMalformed
	}
}

// toRequest answers a REQUEST by the client's state (RFC 2131 section 4.3.2).
func toRequest(req *dhcpv4.DHCPv4, boot pxe.Boot, lease pxe.Lease, a Answer) (*dhcpv4.DHCPv4, pxe.Reason) {
	chosen := addr(req.ServerIdentifier())
	want := requestedIP(req)
	switch {
	case chosen.IsValid() && chosen != a.Server: // it took another server's offer
		return nil, pxe.ReasonOtherServer
	case !want.IsValid():
		return nil, pxe.ReasonNoAddress
	case !a.Subnet.Prefix.Contains(want):
		return refuse(req, a, "address "+want.String()+" is not of this network"), pxe.ReasonWrongNetwork
	case want == lease.IP && lease.Subnet == a.Subnet.Name && bytes.Equal(lease.MAC, req.ClientHWAddr):
		return offerOrAck(req, boot, lease, a, dhcpv4.MessageTypeAck), ""
	case lease.IP.IsValid() || chosen.IsValid():
		return refuse(req, a, "address "+want.String()+" is not yours"), pxe.ReasonWrongAddress
	default: // no record of it: RFC 2131 demands silence, the client starts over by itself
		return nil, pxe.ReasonNoRecord
	}
}

// offerOrAck is an OFFER or an ACK of lease.
func offerOrAck(req *dhcpv4.DHCPv4, boot pxe.Boot, lease pxe.Lease, a Answer, t dhcpv4.MessageType) *dhcpv4.DHCPv4 {
	p := blank(req, a, t)
	p.YourIPAddr = lease.IP.AsSlice()
	p.ClientIPAddr = net.IPv4zero
	if t == dhcpv4.MessageTypeAck {
		p.ClientIPAddr = req.ClientIPAddr
	}
	p.UpdateOption(dhcpv4.OptIPAddressLeaseTime(a.Subnet.Lease.Truncate(time.Second)))
	network(p, a.Subnet)
	bootOptions(p, req, boot, a)
	return p
}

// refuse is a NAK. Through a relay it must be broadcast on the client's link, since the client has to forget its
// address (RFC 2131 section 4.3.2).
func refuse(req *dhcpv4.DHCPv4, a Answer, why string) *dhcpv4.DHCPv4 {
	p := blank(req, a, dhcpv4.MessageTypeNak)
	p.UpdateOption(dhcpv4.OptMessage(why))
	if addr(req.GatewayIPAddr).IsValid() {
		p.SetBroadcast()
	}
	return p
}

// blank is a reply with the fields that all replies share (RFC 2131 table 3).
func blank(req *dhcpv4.DHCPv4, a Answer, t dhcpv4.MessageType) *dhcpv4.DHCPv4 {
	p := &dhcpv4.DHCPv4{
		OpCode:        dhcpv4.OpcodeBootReply,
		HWType:        req.HWType,
		TransactionID: req.TransactionID,
		Flags:         req.Flags,
		ClientIPAddr:  net.IPv4zero,
		YourIPAddr:    net.IPv4zero,
		ServerIPAddr:  net.IPv4zero,
		GatewayIPAddr: req.GatewayIPAddr,
		ClientHWAddr:  req.ClientHWAddr,
		Options:       dhcpv4.Options{},
	}
	if req.HWType == iana.HWTypeInfiniband { // RFC 4390, sections 2 and 3: no address, and everybody on the link hears it
		p.ClientHWAddr = nil
		p.SetBroadcast()
	}
	for _, code := range echoed() {
		if v := req.Options.Get(code); v != nil {
			p.UpdateOption(dhcpv4.OptGeneric(code, v))
		}
	}
	p.UpdateOption(dhcpv4.OptMessageType(t))
	p.UpdateOption(dhcpv4.OptServerIdentifier(a.Server.AsSlice()))
	return p
}

// network adds the settings of the client's subnet.
func network(p *dhcpv4.DHCPv4, s Subnet) {
	p.UpdateOption(dhcpv4.OptSubnetMask(net.CIDRMask(s.Prefix.Bits(), 32)))
	p.UpdateOption(dhcpv4.OptBroadcastAddress(s.Broadcast().AsSlice()))
	if s.Router.IsValid() {
		p.UpdateOption(dhcpv4.OptRouter(s.Router.AsSlice()))
	}
	if len(s.DNS) > 0 {
		p.UpdateOption(dhcpv4.OptDNS(ips(s.DNS)...))
	}
	if len(s.NTP) > 0 {
		p.UpdateOption(dhcpv4.OptNTPServers(ips(s.NTP)...))
	}
	if s.Domain != "" {
		p.UpdateOption(dhcpv4.OptDomainName(s.Domain))
	}
	for code, value := range s.Options {
		p.UpdateOption(dhcpv4.OptGeneric(dhcpv4.GenericOptionCode(code), value))
	}
}

func ips(all []netip.Addr) []net.IP {
	list := make([]net.IP, len(all))
	for i, a := range all {
		list[i] = a.AsSlice()
	}
	return list
}

// iPXE's encapsulated option 176 "no-pxedhcp": do not wait for a ProxyDHCP server. Without it
// iPXE sits out three seconds after every ACK.
const ipxeNoProxyDHCP = 176

// bootOptions adds the boot file, if there is one. A boot ROM that is not to boot gets the rest of the answer without
// a file, and goes on to its next device: a BIOS and iPXE by themselves, UEFI by an explicit local boot.
func bootOptions(p, req *dhcpv4.DHCPv4, boot pxe.Boot, a Answer) {
	c := machineOf(req)
	if c.Firmware == pxe.IPXE {
		p.UpdateOption(dhcpv4.OptGeneric(dhcpv4.OptionEtherboot, []byte{ipxeNoProxyDHCP, 1, 1}))
	}
	file, ok := bootFile(c, boot, a.URL)
	if !ok {
		if c.Firmware == pxe.UEFI && boot.Action == pxe.Address {
			localBoot(p)
		}
		return
	}
	name(p, c, file, a)
}

// bootFile names a client's first file: iPXE's script and UEFI HTTP boot's loader as URLs below base, otherwise a TFTP
// file name.
func bootFile(c pxe.Client, boot pxe.Boot, base string) (string, bool) {
	if !boot.Action.Boots() {
		return "", false
	}
	if c.Firmware == pxe.IPXE {
		return base + pxe.ScriptPath(c.MAC), true
	}
	file, ok := loader.For(c.Firmware, c.Arch)
	if ok && c.Firmware == pxe.UEFIHTTP {
		file = base + pxe.LoaderPath(file)
	}
	return file, ok
}
