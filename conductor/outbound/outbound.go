// Package outbound decides which addresses the conductor dials for settings of nodes and for agents: BMCs, registries
// and servers of images, and the agents themselves. An editor of a node must not reach services of the conductor's own
// host or link, such as a cloud's metadata at 169.254.169.254.
//
// The address is checked when it is dialled, after the name was resolved: a name may be resolved to another address
// each time.
package outbound

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// Policy is which addresses are dialled. It is safe for concurrent use.
type Policy struct {
	flag  string
	allow []netip.Prefix
	only  []netip.Prefix             // the rest is refused; none: no such bound
	bound string                     // the flag that gives only
	own   func() ([]net.Addr, error) // addresses of this host
}

// New makes a policy with exceptions, as the flag of that name gives them.
func New(flag string, allow []string) (*Policy, error) {
	allowed, err := Networks(flag, allow)
	if err != nil {
		return nil, err
	}
	return &Policy{flag: flag, own: net.InterfaceAddrs, allow: allowed}, nil
}

// Only bounds a policy to the networks that another flag gives, and to its exceptions; none: it stays as it is.
func (p *Policy) Only(flag string, networks []string) (err error) {
	p.bound = flag
	p.only, err = Networks(flag, networks)
	return err
}

// Networks parses the networks and addresses of a flag. IPv4 in IPv6 is returned as IPv4, because addresses are
// compared in that form.
func Networks(flag string, texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			a, failed := netip.ParseAddr(text)
			if failed != nil || a.Zone() != "" {
				return nil, fmt.Errorf("--%s %q is neither a network nor an address: say 127.0.0.0/8 or 10.0.0.1", flag, text)
			}
			prefix = netip.PrefixFrom(a, a.BitLen())
		}
		if bits := prefix.Bits() - 96; prefix.Addr().Is4In6() && bits >= 0 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), bits)
		} else if prefix.Addr().Is4In6() {
			return nil, fmt.Errorf("--%s %q is IPv4 in IPv6 with more than all of IPv4: say a network of IPv4, such as "+
				"10.0.0.0/8, or one of IPv6", flag, text)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// Refused is an address that is not dialled.
type Refused struct {
	Address netip.Addr
	why     string
	flag    string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("%s is not called, for it is %s: correct the address, or restart the conductor with --%s %s if "+
		"that is where it is meant to be",
		e.Address, e.why, e.flag, netip.PrefixFrom(e.Address, e.Address.BitLen()))
}

// Permanent says that trying again does not help.
func (e *Refused) Permanent() bool { return true }

// kinds are the addresses that no machine of others has, or that mean this host.
var kinds = []struct {
	name string
	is   func(a netip.Addr) bool
}{
	{"a loopback address", netip.Addr.IsLoopback},
	{"an unspecified address", func(a netip.Addr) bool { return a.IsUnspecified() || thisNetwork.Contains(a) }},
	{"a link-local address", netip.Addr.IsLinkLocalUnicast},
	{"the metadata service of a cloud", metadata},
	{"a multicast address", netip.Addr.IsMulticast},
	{"a broadcast address", func(a netip.Addr) bool { return a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) }},
}

// metadata are addresses of clouds' metadata services that are not link-local: Alibaba's, Azure's, Oracle's, AWS's by
// IPv6 (Nitro), Google's, Scaleway's and Oracle's by IPv6.
func metadata(a netip.Addr) bool {
	return slices.Contains([]string{"100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254",
		"fd00:42::42", "fd00:c1::a9fe:a9fe"}, a.String())
}

// thisNetwork is 0.0.0.0/8 (RFC 1122, 3.2.1.3).
var thisNetwork = netip.PrefixFrom(netip.AddrFrom4([4]byte{}), 8)

// Check refuses a blocked address, also when it is embedded in a NAT64 or 6to4 address.
func (p *Policy) Check(a netip.Addr) error {
	a = a.Unmap().WithZone("") // ::ffff:127.0.0.1 is 127.0.0.1
	if p.allowed(a) {
		return nil
	}
	why, err := p.refuses(a)
	for _, inner := range embedded(a) {
		if why != "" || err != nil {
			break
		}
		if why, err = p.refuses(inner); why != "" {
			why += " behind a translator, " + inner.String()
		}
	}
	switch {
	case why != "":
		return &Refused{a, why, p.flag}
	case err == nil && len(p.only) > 0 && !within(p.only, a):
		return &Refused{a, "in no network of --" + p.bound, p.bound}
	}
	return err
}

func (p *Policy) allowed(a netip.Addr) bool { return within(p.allow, a) }

func within(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// refuses is why an address is not dialled, "" for no reason.
func (p *Policy) refuses(a netip.Addr) (why string, err error) {
	if p.allowed(a) {
		return "", nil
	}
	for _, k := range kinds {
		if k.is(a) {
			return k.name, nil
		}
	}
	mine, err := p.own()
	if err != nil {
		return "", fmt.Errorf("read the addresses of this host: %w", err)
	}
	for _, m := range mine {
		if n, ok := m.(*net.IPNet); ok {
			if own, ok := netip.AddrFromSlice(n.IP); ok && own.Unmap() == a {
				return "an address of the conductor's own host", nil
			}
		}
	}
	return "", nil
}

// control is net.Dialer.Control.
func (p *Policy) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is no resolved address: %w", address, err)
	}
	return p.Check(at.Addr())
}

// Dialer dials where the policy allows, by TCP and UDP.
func (p *Policy) Dialer() *net.Dialer { return &net.Dialer{Control: p.control} }

// Limits of Client's connections, the same as in Go's default transport.
const (
	idleTime      = 90 * time.Second
	handshakeTime = 10 * time.Second
)

// Client makes HTTP requests where the policy allows. It ignores the proxies of the environment: a proxy would resolve
// names itself.
func (p *Policy) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: p.Dialer().DialContext, ForceAttemptHTTP2: true,
		MaxIdleConns: 100, IdleConnTimeout: idleTime, TLSHandshakeTimeout: handshakeTime,
	}}
}
