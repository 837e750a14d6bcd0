package network

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// Lifetimes announced for the prefix, in seconds. A lab rarely lives a day.
const (
	validSeconds     = 86400
	preferredSeconds = 14400
)

// advertisement is the body of an ICMPv6 Router Advertisement (RFC 4861, 4.2
// and 4.6) after the four octets of type, code and checksum: one on-link
// prefix for SLAAC, the sender's MAC, and a router lifetime of 0, because the
// lab leads nowhere. Without M and O flags a client asks for no DHCPv6.
func advertisement(prefix netip.Prefix, mac net.HardwareAddr) []byte {
	b := []byte{
		64, 0, // hop limit, flags
		0, 0, // router lifetime
		0, 0, 0, 0, // reachable time
		0, 0, 0, 0, // retransmission timer
		1, 1, // source link-layer address, 1 x 8 octets
	}
	b = append(b, mac...)
	b = append(b, 3, 4, byte(prefix.Bits()), 0xc0) // prefix information, 4 x 8 octets, on-link and autonomous
	b = binary.BigEndian.AppendUint32(b, validSeconds)
	b = binary.BigEndian.AppendUint32(b, preferredSeconds)
	b = append(b, 0, 0, 0, 0)
	return append(b, prefix.Addr().AsSlice()...)
}
