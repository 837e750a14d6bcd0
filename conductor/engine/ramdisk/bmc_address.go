package ramdisk

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// hasBMC reports whether a node is configured with the BMC an inventory tells of.
func hasBMC(n node.Node, inv agentapi.Inventory) bool {
	told := toldAddresses(inv)
	return slices.ContainsFunc(bmcAddresses(n), func(a netip.Addr) bool { return slices.Contains(told, a) })
}

// NodesAt are the nodes whose BMC is at a host, a name or an address. One host may
// have several machines behind it.
func (e *Ramdisks) NodesAt(ctx context.Context, host string) (all []node.Node, err error) {
	if err := e.machines.fill(ctx, e.Store); err != nil {
		return nil, err
	}
	for _, uuid := range e.machines.at(plainHost(host)) {
		n, err := e.Store.Node(ctx, uuid)
		if errors.Is(err, node.ErrNotFound) { // deleted just now
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// bmcHosts are where the BMC of a node is configured to be.
func bmcHosts(n node.Node) (all []string) {
	for k, v := range n.DriverInfo {
		configured, ok := v.(string)
		if !ok || !strings.HasSuffix(k, "_address") {
			continue
		}
		if host := plainHost(bareHost(configured)); host != "" && !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}

// plainHost is one word for all ways to write a host.
func plainHost(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String()
	}
	return strings.ToLower(host)
}

// bmcAddresses are those of bmcHosts that are no names.
func bmcAddresses(n node.Node) (all []netip.Addr) {
	for _, host := range bmcHosts(n) {
		if a, err := netip.ParseAddr(host); err == nil {
			all = append(all, a)
		}
	}
	return all
}

// bareHost is the host of a configured BMC address (host, host:port or URL).
func bareHost(configured string) string {
	if _, rest, ok := strings.Cut(configured, "://"); ok {
		configured, _, _ = strings.Cut(rest, "/")
	}
	if h, _, err := net.SplitHostPort(configured); err == nil {
		configured = h
	}
	return strings.Trim(configured, "[]")
}

// toldAddresses are the BMC's as the ramdisk found them, where they are any.
func toldAddresses(inv agentapi.Inventory) []netip.Addr {
	var all []netip.Addr
	for _, told := range []string{inv.BMCAddress, inv.BMCv6Address} {
		bare, _, _ := strings.Cut(told, "/")
		if a, err := netip.ParseAddr(bare); err == nil && !a.IsUnspecified() {
			all = append(all, a)
		}
	}
	return all
}
