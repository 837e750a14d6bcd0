package dhcp

import (
	"fmt"
	"net/netip"
	"time"
)

// maxRange bounds one pool, so that a search for a free address stays short.
const maxRange = 1 << 16

// DefaultLease is how long an address is lent when a Subnet does not say.
const DefaultLease = time.Hour

// Subnet is one network the server hands out addresses in: its own link, or
// one behind a relay.
type Subnet struct {
	Prefix netip.Prefix
	First  netip.Addr    // first address of the pool; zero with Last: only reservations are served
	Last   netip.Addr    // last address of the pool, inclusive
	Router netip.Addr    // default gateway, option 3; zero: none is announced
	DNS    []netip.Addr  // option 6
	Lease  time.Duration // option 51; zero: DefaultLease
}

// normal returns the subnet with its defaults filled in, or says what is wrong with it.
func (s Subnet) normal() (Subnet, error) {
	if !s.Prefix.IsValid() || !s.Prefix.Addr().Is4() {
		return s, fmt.Errorf("subnet %v: expected an IPv4 prefix such as 10.77.0.0/24", s.Prefix)
	}
	s.Prefix = s.Prefix.Masked()
	if s.Lease == 0 {
		s.Lease = DefaultLease
	}
	if s.Lease < time.Minute {
		return s, fmt.Errorf("subnet %v: lease time %v is under a minute: machines would renew without end",
			s.Prefix, s.Lease)
	}
	if s.First.IsValid() != s.Last.IsValid() {
		return s, fmt.Errorf("subnet %v: the pool needs both a first and a last address, or neither", s.Prefix)
	}
	if s.First.IsValid() {
		if err := s.checkRange(); err != nil {
			return s, err
		}
	}
	if s.Router.IsValid() && !s.Prefix.Contains(s.Router) {
		return s, fmt.Errorf("subnet %v: the router %v lies outside it", s.Prefix, s.Router)
	}
	return s, nil
}

func (s Subnet) checkRange() error {
	for _, a := range []netip.Addr{s.First, s.Last} {
		if !s.host(a) {
			return fmt.Errorf("subnet %v: the pool address %v is not a host address of it", s.Prefix, a)
		}
	}
	switch n := int64(number(s.Last)) - int64(number(s.First)) + 1; {
	case n < 1:
		return fmt.Errorf("subnet %v: the pool's first address %v comes after its last %v", s.Prefix, s.First, s.Last)
	case n > maxRange:
		return fmt.Errorf("subnet %v: the pool holds %d addresses, at most %d are allowed", s.Prefix, n, maxRange)
	}
	return nil
}

// host reports whether a may be given to a machine: inside the prefix and neither its
// network nor its broadcast address (RFC 3021 has neither on a /31).
func (s Subnet) host(a netip.Addr) bool {
	if !s.Prefix.Contains(a) {
		return false
	}
	return s.Prefix.Bits() >= 31 || (a != s.Prefix.Addr() && a != s.Broadcast())
}

// inRange reports whether a belongs to the pool.
func (s Subnet) inRange(a netip.Addr) bool {
	return s.First.IsValid() && a.Is4() && a.Compare(s.First) >= 0 && a.Compare(s.Last) <= 0
}

// UpperHalf is the addresses of the upper half of a prefix of at most 30 bits,
// without the broadcast address: a pool for who names none.
func UpperHalf(p netip.Prefix) (first, last netip.Addr) {
	base, size := number(p.Masked().Addr()), uint32(1)<<(32-p.Bits())
	return fromNumber(base + size/2), fromNumber(base + size - 2)
}

// Broadcast is the subnet's directed broadcast address.
func (s Subnet) Broadcast() netip.Addr {
	host := uint32(1)<<(32-s.Prefix.Bits()) - 1
	return fromNumber(number(s.Prefix.Addr()) | host)
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

func fromNumber(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}
