// Package connlimit bounds the connections and requests that strangers can hold open. Places go to clients that hold
// few.
//
// It must not know the service: agent, conductor and boot service use it alike.
package connlimit

import "net/netip"

// Network is the unit by which clients are counted: an IPv4 address, or the /64 of an IPv6 address, since every host
// of a /64 can take any number of its addresses (RFC 8981).
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
