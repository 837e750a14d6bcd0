package dhcp

import (
	"fmt"
	"net/netip"
	"strings"
)

// Reservable says why a reservation of ip could never be honoured; nil when it can be. The
// present holder does not count: a reservation beats a lease.
func (p *Pool) Reservable(ip netip.Addr) error {
	s, ok := p.Subnet(ip)
	switch {
	case !ok:
		return fmt.Errorf("address %v is in no subnet that is served: expected one of %s", ip, p.prefixes())
	case !s.host(ip):
		return fmt.Errorf("address %v is the network or broadcast address of %v: reserve another one of it", ip, s.Prefix)
	case p.taken[ip]:
		return fmt.Errorf("address %v is the boot service's own or a router's: reserve another one of %v", ip, s.Prefix)
	}
	return nil
}

func (p *Pool) prefixes() string {
	var all []string
	for _, s := range p.subnets {
		all = append(all, s.Prefix.String())
	}
	return strings.Join(all, ", ")
}

// Reservable says why a reservation of ip could never be honoured; nil when it can be.
func (s *Server) Reservable(ip netip.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool.Reservable(ip)
}
