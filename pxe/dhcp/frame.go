package dhcp

import (
	"encoding/binary"
	"net/netip"
)

const (
	ipv4Header = 20
	udpHeader  = 8
	protoUDP   = 17
	ttl        = 64
)

// datagram wraps payload in UDP and IPv4 headers (RFC 768, RFC 791). A client without an address cannot be reached
// through the kernel's ARP.
func datagram(from, to netip.AddrPort, payload []byte) []byte {
	b := make([]byte, ipv4Header+udpHeader+len(payload))
	ip, udp := b[:ipv4Header], b[ipv4Header:]
	ip[0] = 4<<4 | ipv4Header/4
	binary.BigEndian.PutUint16(ip[2:], uint16(len(b)))
	ip[8], ip[9] = ttl, protoUDP
	src, dst := from.Addr().As4(), to.Addr().As4()
	copy(ip[12:], src[:])
	copy(ip[16:], dst[:])
	binary.BigEndian.PutUint16(ip[10:], ^sum(ip, 0))

	binary.BigEndian.PutUint16(udp[0:], from.Port())
	binary.BigEndian.PutUint16(udp[2:], to.Port())
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	copy(udp[udpHeader:], payload)
	pseudo := uint32(sum(ip[12:20], 0)) + protoUDP + uint32(len(udp))
	check := ^sum(udp, pseudo)
	if check == 0 { // zero would mean "no checksum"
		check = 0xffff
	}
	binary.BigEndian.PutUint16(udp[6:], check)
	return b
}

// sum is the Internet checksum's one's complement sum (RFC 1071) of b and start.
func sum(b []byte, start uint32) uint16 {
	s := start
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
