package serve

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/ferrite-metal/ferrite/pxe/dhcp"
)

// subnets are the boot network, and those behind relays. One of boot-subnets that is the boot network takes the place
// of --boot-pool, --boot-router and --boot-dns.
func (c *Config) subnets() (netip.Addr, []dhcp.Subnet, error) {
	address, own, err := c.subnet()
	if err != nil {
		return address, nil, err
	}
	all := []dhcp.Subnet{own}
	for _, entry := range c.BootSubnets {
		s, err := c.bootSubnet(entry)
		if err != nil {
			return address, nil, err
		}
		if s.Prefix.Masked() != own.Prefix {
			all = append(all, s)
			continue
		}
		if c.BootPool != "" || c.BootRouter != "" || len(c.BootDNS) > 0 {
			return address, nil, fmt.Errorf("boot-subnets: %s is the boot network, which --boot-pool, --boot-router and "+
				"--boot-dns describe too: use one of the two", s.Prefix)
		}
		all[0] = s
	}
	_, err = dhcp.NewPool(all, []netip.Addr{address}, nil) // refuses subnets that overlap, and more
	return address, all, err
}

// bootSubnet reads one of boot-subnets.
func (c *Config) bootSubnet(line string) (dhcp.Subnet, error) {
	s, err := dhcp.ParseSubnet(line, c.BootLease)
	if err != nil {
		return s, fmt.Errorf("boot-subnets: %w", err)
	}
	return s, nil
}

// subnet describes the boot network.
func (c *Config) subnet() (netip.Addr, dhcp.Subnet, error) {
	prefix, err := c.bootPrefix()
	if err != nil {
		return netip.Addr{}, dhcp.Subnet{}, err
	}
	s := dhcp.Subnet{Prefix: prefix.Masked(), Lease: c.BootLease}
	if s.First, s.Last, err = c.pool(prefix); err != nil {
		return prefix.Addr(), s, err
	}
	if c.BootRouter != "" {
		if s.Router, err = netip.ParseAddr(c.BootRouter); err != nil {
			return prefix.Addr(), s, fmt.Errorf("--boot-router: %w", err)
		}
	}
	for _, d := range c.BootDNS {
		a, err := netip.ParseAddr(d)
		if err != nil {
			return prefix.Addr(), s, fmt.Errorf("--boot-dns: %w", err)
		}
		s.DNS = append(s.DNS, a)
	}
	return prefix.Addr(), s, nil
}

// bootPrefix is --boot-address, or the interface's own prefix.
func (c *Config) bootPrefix() (netip.Prefix, error) {
	if c.BootAddress != "" {
		p, err := netip.ParsePrefix(c.BootAddress)
		if err != nil {
			return p, fmt.Errorf("--boot-address %q is not address/prefix, as 10.0.0.1/24: %w", c.BootAddress, err)
		}
		return p, nil
	}
	i, err := net.InterfaceByName(c.BootInterface)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("--boot-interface %s: %w", c.BootInterface, err)
	}
	addrs, err := i.Addrs()
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("--boot-interface %s: %w", c.BootInterface, err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
			return p, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("--boot-interface %s has no IPv4 address: give it one, or say --boot-address",
		c.BootInterface)
}

// pool is --boot-pool, or the upper half of the subnet without its broadcast
// address.
func (c *Config) pool(p netip.Prefix) (first, last netip.Addr, err error) {
	if c.BootPool != "" {
		if first, last, err = dhcp.ParseRange(c.BootPool); err != nil {
			return first, last, fmt.Errorf("--boot-pool %w", err)
		}
		return first, last, nil
	}
	if p.Bits() > 29 {
		return first, last, fmt.Errorf("subnet %s is too small for a pool of its own: say --boot-pool", p.Masked())
	}
	first, last = dhcp.UpperHalf(p)
	return first, last, nil
}
