package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
)

// Client is DHCPv4 over a raw socket, which needs no address to start with.
type Client struct{}

// How long one message is waited for, and how often it is sent.
const (
	dhcpTimeout = 2 * time.Second
	dhcpRetries = 2
)

// Request goes through discover, offer, request and acknowledge.
func (Client) Request(ctx context.Context, l Link) (Session, error) {
	c, err := open(l)
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // a socket
	lease, err := c.Request(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("dhcp on %s: %w", l.Name, err)
	}
	return newSession(l, lease)
}

func open(l Link) (*nclient4.Client, error) {
	c, err := nclient4.New(l.Name, nclient4.WithTimeout(dhcpTimeout), nclient4.WithRetry(dhcpRetries),
		nclient4.WithHWAddr(l.MAC))
	if err != nil {
		return nil, fmt.Errorf("dhcp on %s: %w", l.Name, err)
	}
	return c, nil
}

// options asks for the settings in Config.
func options(p *dhcpv4.DHCPv4) {
	p.UpdateOption(dhcpv4.OptParameterRequestList(
		dhcpv4.OptionSubnetMask, dhcpv4.OptionRouter, dhcpv4.OptionDomainNameServer, dhcpv4.OptionHostName,
		dhcpv4.OptionDomainName, dhcpv4.OptionInterfaceMTU, dhcpv4.OptionClasslessStaticRoute,
		dhcpv4.OptionIPAddressLeaseTime, dhcpv4.OptionRenewTimeValue))
	p.UpdateOption(dhcpv4.OptClassIdentifier("ferrite-agent"))
}

// session is a lease held over Client.
type session struct {
	link   Link
	lease  *nclient4.Lease
	config Config
}

func newSession(l Link, lease *nclient4.Lease) (Session, error) {
	config, err := configOf(lease.ACK)
	if err != nil {
		return nil, fmt.Errorf("dhcp on %s: %w", l.Name, err)
	}
	return &session{link: l, lease: lease, config: config}, nil
}

// Config is the content of the lease.
func (s *session) Config() Config { return s.config }

// Renew asks the same server for more time.
func (s *session) Renew(ctx context.Context) (Session, error) {
	c, err := open(s.link)
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // a socket
	lease, err := c.Renew(ctx, s.lease, options)
	if err != nil {
		return nil, fmt.Errorf("dhcp on %s: %w", s.link.Name, err)
	}
	return newSession(s.link, lease)
}

// isNak reports whether the server took the address back.
func isNak(err error) bool {
	var nak *nclient4.ErrNak
	return errors.As(err, &nak)
}

// Lease times a server may leave out, and the least we ask again after: a
// server that says a few seconds must not keep us busy.
const (
	defaultLease = 10 * time.Minute
	minRenew     = 10 * time.Second
)

// configOf reads an acknowledgement.
func configOf(ack *dhcpv4.DHCPv4) (Config, error) {
	ip, ok := netip.AddrFromSlice(ack.YourIPAddr.To4())
	if !ok || ip.IsUnspecified() {
		return Config{}, fmt.Errorf("the answer has no address: found %s", ack.YourIPAddr)
	}
	mask := ack.SubnetMask()
	if len(mask) == 0 {
		mask = net.IP(ip.AsSlice()).DefaultMask()
	}
	ones, bits := mask.Size()
	if bits != 32 {
		return Config{}, fmt.Errorf("the answer's subnet mask %s is not one", mask)
	}
	c := Config{
		Address: netip.PrefixFrom(ip, ones), Domain: ack.DomainName(), Hostname: ack.HostName(),
		Lease: ack.IPAddressLeaseTime(defaultLease), Routes: routesOf(ack),
	}
	c.Renew = max(ack.IPAddressRenewalTime(c.Lease/2), minRenew)
	for _, server := range ack.DNS() {
		if a, ok := netip.AddrFromSlice(server.To4()); ok {
			c.DNS = append(c.DNS, a)
		}
	}
	if mtu, err := dhcpv4.GetUint16(dhcpv4.OptionInterfaceMTU, ack.Options); err == nil && mtu >= 576 {
		c.MTU = int(mtu)
	}
	return c, nil
}

// routesOf takes the classless routes and, as RFC 3442 says, the router only
// when there are none.
func routesOf(ack *dhcpv4.DHCPv4) []Route {
	var routes []Route
	for _, r := range ack.ClasslessStaticRoute() {
		to, okTo := netip.AddrFromSlice(r.Dest.IP.To4())
		gateway, okGateway := netip.AddrFromSlice(r.Router.To4())
		ones, _ := r.Dest.Mask.Size()
		if !okTo || !okGateway {
			continue
		}
		if gateway.IsUnspecified() {
			gateway = netip.Addr{}
		}
		routes = append(routes, Route{To: netip.PrefixFrom(to, ones), Gateway: gateway})
	}
	if len(routes) > 0 {
		return routes
	}
	if routers := ack.Router(); len(routers) > 0 {
		if gateway, ok := netip.AddrFromSlice(routers[0].To4()); ok {
			routes = append(routes, Route{To: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Gateway: gateway})
		}
	}
	return routes
}
