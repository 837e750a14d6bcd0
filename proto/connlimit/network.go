// Package connlimit bounds what strangers can hold open: connections of a
// listener, and requests under way. Places go to those who hold few.
//
// It must not know what is served: agent, conductor and boot service use it alike.
package connlimit

import "net/netip"

// Network is what one host is counted by: an IPv4 address, or the /64 of an IPv6
// address, since every host of a /64 can take as many of its addresses as it
// likes (RFC 8981).
func Network(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	p, err := a.Prefix(64)
	if err != nil { // an IPv6 address has 128 bits
		return a
	}
	return p.Addr()
}
