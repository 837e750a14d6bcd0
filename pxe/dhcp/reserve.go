package dhcp

import (
	"fmt"
	"net/netip"
	"strings"
)

// Reservable finds the subnet for a reservation of an address. It takes the subnet's name, or "" where one subnet
// alone has the address. The error says why a reservation could never be honoured. The present holder does not matter:
// a reservation beats a lease.
func (p *Pool) Reservable(subnet string, ip netip.Addr) (name string, err error) {
	var s Subnet
	of := p.Subnets(ip)
	for _, one := range of {
		if one.Name == subnet || len(of) == 1 && subnet == "" {
			s = one
		}
	}
	switch {
	case len(of) == 0:
		return "", fmt.Errorf("address %v is in no subnet that is served: expected one of %s", ip, named(p.subnets))
	case !s.Prefix.IsValid() && subnet == "":
		return "", fmt.Errorf("address %v is in several subnets: give the name of the subnet, one of %s", ip, named(of))
	case !s.Prefix.IsValid():
		return "", fmt.Errorf("address %v is in no subnet of the name %.80q: expected %s", ip, subnet, named(of))
	case !s.host(ip):
		return "", fmt.Errorf("address %v is the network or broadcast address of %v: reserve another one of it", ip, s)
	case p.taken[ip]:
		return "", fmt.Errorf("address %v is the boot service's own or a router's: reserve another one of %v", ip, s)
	}
	return s.Name, nil
}

func named(subnets []Subnet) string {
	var all []string
	for _, s := range subnets {
		all = append(all, s.String())
	}
	return strings.Join(all, ", ")
}

// Reservable finds the subnet that an address is to be reserved in, as Pool.Reservable does.
func (s *Server) Reservable(subnet string, ip netip.Addr) (name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool.Reservable(subnet, ip)
}
