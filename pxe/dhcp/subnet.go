package dhcp

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"time"
)

// maxRange bounds one pool, and so its memory: half a megabyte and the bindings.
const maxRange = 1 << 22

// DefaultLease is how long an address is leased when a Subnet does not say.
const DefaultLease = time.Hour

// Subnet is one network the server hands out addresses in: its own link, or
// one behind a relay.
type Subnet struct {
	// Name distinguishes subnets with one prefix, as in racks that are built alike; "" where no other has the prefix.
	// Leases on record have it.
	Name   string
	Prefix netip.Prefix
	First  netip.Addr    // first address of the pool; zero with Last: only reservations are served
	Last   netip.Addr    // last address of the pool, inclusive
	Router netip.Addr    // default gateway, option 3; zero: none is announced
	DNS    []netip.Addr  // option 6
	NTP    []netip.Addr  // option 42
	Domain string        // option 15
	Lease  time.Duration // option 51; zero: DefaultLease

	// Options are further options by code, each as it goes over the wire. Those that the server sets itself are
	// refused.
	Options map[uint8][]byte
	// Relays are addresses of relays (giaddr) outside the prefix that forward requests from this subnet.
	Relays []netip.Addr
}

// ownOptions are the options of RFC 2132 that the server sets by itself, or that belong to the
// client or the relay.
var ownOptions = []uint8{0, 1, 3, 6, 15, 28, 42, 43, 50, 51, 52, 53, 54, 55, 57, 60, 61, 66, 67, 77, 82, 93, 97, 255}

// maxName bounds the name of a subnet.
const maxName = 64

// nameForm is how the name of a subnet looks.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// String names the subnet for people.
func (s Subnet) String() string {
	if s.Name == "" {
		return s.Prefix.String()
	}
	return s.Prefix.String() + " (" + s.Name + ")"
}

// beside returns why two subnets cannot be served together; nil when they can. Subnets with one prefix differ by their
// relays.
func (s Subnet) beside(o Subnet) error {
	for _, r := range s.Relays {
		if slices.Contains(o.Relays, r) {
			return fmt.Errorf("the relay %v is of both subnets %v and %v: it must be of one only", r, o, s)
		}
	}
	switch {
	case s.Name != "" && s.Name == o.Name:
		return fmt.Errorf("subnets %v and %v have one name: give each its own", o, s)
	case !o.Prefix.Overlaps(s.Prefix):
		return nil
	case o.Prefix != s.Prefix:
		return fmt.Errorf("subnets %v and %v overlap: an address must belong to one only", o, s)
	}
	for _, one := range []Subnet{s, o} {
		if one.Name == "" || len(one.Relays) == 0 {
			return fmt.Errorf("subnets %v and %v overlap: two that have one prefix need a name each, and each the "+
				"addresses of its relays", o, s)
		}
	}
	return nil
}

// normal returns the subnet with its defaults filled in, or an error that names the fault.
func (s Subnet) normal() (Subnet, error) {
	if !s.Prefix.IsValid() || !s.Prefix.Addr().Is4() {
		return s, fmt.Errorf("subnet %v: expected an IPv4 prefix such as 10.77.0.0/24", s.Prefix)
	}
	s.Prefix = s.Prefix.Masked()
	if s.Name != "" && (len(s.Name) > maxName || !nameForm.MatchString(s.Name)) {
		return s, fmt.Errorf("subnet %v: the name %.80q is none: expected at most %d letters, digits, dots, dashes "+
			"and underscores", s.Prefix, s.Name, maxName)
	}
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
	return s, s.checkOptions()
}

// checkOptions refuses options that could not be sent, or would be sent twice.
func (s Subnet) checkOptions() error {
	for what, all := range map[string][]netip.Addr{"name server": s.DNS, "time server": s.NTP, "relay": s.Relays} {
		for _, a := range all {
			if !a.Is4() || a.IsUnspecified() {
				return fmt.Errorf("subnet %v: the %s %v is no IPv4 address", s.Prefix, what, a)
			}
		}
	}
	if len(s.Domain) > 253 {
		return fmt.Errorf("subnet %v: the domain has %d characters, at most 253 make a name", s.Prefix, len(s.Domain))
	}
	for code, value := range s.Options {
		switch {
		case slices.Contains(ownOptions, code):
			return fmt.Errorf("subnet %v: DHCP option %d is set by the server itself: leave it out", s.Prefix, code)
		case len(value) == 0 || len(value) > 255:
			return fmt.Errorf("subnet %v: DHCP option %d has %d bytes, expected 1 to 255", s.Prefix, code, len(value))
		}
	}
	return nil
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

// UpperHalf returns the upper half of a prefix of at most 30 bits, without the broadcast address. It is the default
// pool.
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
