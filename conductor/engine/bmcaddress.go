package engine

import (
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

// bmcAddresses are those a node is configured with.
func bmcAddresses(n node.Node) []netip.Addr {
	var all []netip.Addr
	for k, v := range n.DriverInfo {
		configured, ok := v.(string)
		if !ok || !strings.HasSuffix(k, "_address") {
			continue
		}
		if a, err := netip.ParseAddr(bareHost(configured)); err == nil && !slices.Contains(all, a) {
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
