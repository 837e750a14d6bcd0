package dhcp

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
)

// replyOf is an answer of the server at 10.77.0.2 to machine 1, as an IPv4 packet.
func replyOf(t dhcpv4.MessageType, changes ...change) []byte {
	p := request(t, append([]change{address(optServer, "10.77.0.2"), func(p *dhcpv4.DHCPv4) {
		p.OpCode, p.YourIPAddr = dhcpv4.OpcodeBootReply, ip("10.77.0.150").AsSlice()
	}}, changes...)...)
	return datagram(netip.MustParseAddrPort("10.77.0.2:67"), netip.AddrPortFrom(broadcast(), 68), p.ToBytes())
}

// TestOverheard: only answers of other DHCP servers are taken note of.
func TestOverheard(t *testing.T) {
	offer := replyOf(dhcpv4.MessageTypeOffer, func(p *dhcpv4.DHCPv4) { p.BootFileName = "pxelinux.0" })
	padded := append(replyOf(dhcpv4.MessageTypeAck), 0, 0, 0, 0)
	want := pxe.Event{Service: pxe.Neighbour, MAC: mac(1), IP: ip("10.77.0.150"), Message: "OFFER", File: "pxelinux.0",
		Server: ip("10.77.0.2"), Answer: "by 10.77.0.2"}
	got, ok := overheard(offer, ip("10.77.0.1"))
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); !ok || diff != "" {
		t.Errorf("%t %s", ok, diff)
	}
	if got, ok := overheard(padded, ip("10.77.0.1")); !ok || got.Message != "ACK" {
		t.Errorf("with padding of Ethernet: %t %+v", ok, got)
	}
	nameless := replyOf(dhcpv4.MessageTypeNak, func(p *dhcpv4.DHCPv4) { delete(p.Options, optServer) })
	if got, ok := overheard(nameless, ip("10.77.0.1")); !ok || got.Server != ip("10.77.0.2") || got.Message != "NAK" {
		t.Errorf("without a server identifier: %t %+v", ok, got)
	}
	short, fragment, tcp := slices.Clone(offer), slices.Clone(offer), slices.Clone(offer)
	binary.BigEndian.PutUint16(short[2:], uint16(len(short)+1))
	fragment = fragment[:len(fragment)-20]
	tcp[9] = 6
	for name, b := range map[string][]byte{
		"nothing": nil, "longer than it is": short, "a fragment": fragment, "TCP": tcp,
		"our own": replyOf(dhcpv4.MessageTypeOffer, address(optServer, "10.77.0.1")),
		"a request": datagram(netip.MustParseAddrPort("0.0.0.0:68"), netip.AddrPortFrom(broadcast(), 67),
			request(dhcpv4.MessageTypeDiscover).ToBytes()),
		"a reply of another type": replyOf(dhcpv4.MessageTypeInform),
		"no DHCP": datagram(netip.MustParseAddrPort("10.77.0.2:67"), netip.AddrPortFrom(broadcast(), 68),
			[]byte("x")),
	} {
		if got, ok := overheard(b, ip("10.77.0.1")); ok {
			t.Errorf("%s is taken for %+v", name, got)
		}
	}
}

// FuzzOverheard reads packets that anybody on the boot network can send.
func FuzzOverheard(f *testing.F) {
	f.Add(replyOf(dhcpv4.MessageTypeOffer))
	f.Add(replyOf(dhcpv4.MessageTypeAck, giaddr("10.88.0.1"))[:60])
	f.Add(replyOf(dhcpv4.MessageTypeNak, func(p *dhcpv4.DHCPv4) { delete(p.Options, optServer) }))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, ok := overheard(b, ip("10.77.0.1"))
		if ok && (len(e.MAC) != 6 || !e.Server.IsValid() || e.Server == ip("10.77.0.1") || e.Service != pxe.Neighbour) {
			t.Errorf("%+v", e)
		}
	})
}
