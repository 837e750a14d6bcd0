package network

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// linkLocal is the bridge's own link-local address: advertisements must come
// from one (RFC 4861, 4.2), and the kernel's would be a second late, after
// duplicate address detection.
var linkLocal = netip.MustParsePrefix("fe80::1/64")

// setupLinks brings up lo, the bridge with its addresses, and n taps on it.
// It runs inside the namespace.
func setupLinks(plan Plan, taps int) error {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	defer handle.Close()
	if err := loopUp(handle); err != nil {
		return err
	}
	bridge, err := addBridge(handle, plan)
	if err != nil {
		return fmt.Errorf("bridge %s: %w", BridgeName, err)
	}
	for i := range taps {
		if err := addTap(handle, bridge, TapName(i)); err != nil {
			return fmt.Errorf("tap %s: %w", TapName(i), err)
		}
	}
	return nil
}

func loopUp(handle *netlink.Handle) error {
	lo, err := handle.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find lo: %w", err)
	}
	if err := handle.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	return nil
}

// addBridge makes the bridge. Spanning tree stays off, so a port forwards
// from the moment it is up; multicast snooping is off, because without a
// querier it forgets the machines' groups and drops their IPv6 neighbours.
func addBridge(handle *netlink.Handle, plan Plan) (*netlink.Bridge, error) {
	snooping := false
	bridge := &netlink.Bridge{
		LinkAttrs:         netlink.LinkAttrs{Name: BridgeName, HardwareAddr: plan.MAC},
		MulticastSnooping: &snooping,
	}
	if err := handle.LinkAdd(bridge); err != nil {
		return nil, fmt.Errorf("add: %w", err)
	}
	for _, prefix := range []netip.Prefix{
		netip.PrefixFrom(plan.Gateway, plan.Subnet.Bits()),
		netip.PrefixFrom(plan.Gateway6, plan.Subnet6.Bits()),
		linkLocal,
	} {
		addr := &netlink.Addr{IPNet: ipNet(prefix)}
		if prefix.Addr().Is6() {
			addr.Flags = unix.IFA_F_NODAD
		}
		if err := handle.AddrAdd(bridge, addr); err != nil {
			return nil, fmt.Errorf("address %s: %w", prefix, err)
		}
	}
	if err := handle.LinkSetUp(bridge); err != nil {
		return nil, fmt.Errorf("bring up: %w", err)
	}
	return bridge, nil
}

// addTap makes a persistent tap and plugs it into the bridge.
func addTap(handle *netlink.Handle, bridge *netlink.Bridge, name string) error {
	tap := &netlink.Tuntap{LinkAttrs: netlink.LinkAttrs{Name: name}, Mode: netlink.TUNTAP_MODE_TAP}
	if err := handle.LinkAdd(tap); err != nil {
		return fmt.Errorf("add (is /dev/net/tun there?): %w", err)
	}
	link, err := handle.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find: %w", err)
	}
	if err := handle.LinkSetMaster(link, bridge); err != nil {
		return fmt.Errorf("plug into %s: %w", BridgeName, err)
	}
	if err := handle.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring up: %w", err)
	}
	return nil
}

// ipNet converts to the type netlink wants.
func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
