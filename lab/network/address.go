package network

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Address gives addresses to a link inside the namespace, by its name, and brings it up.
func (n *Namespace) Address(name string, addresses ...netip.Prefix) error {
	return n.Do(func() error {
		handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return fmt.Errorf("netlink: %w", err)
		}
		defer handle.Close()
		link, err := handle.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		for _, prefix := range addresses {
			addr := &netlink.Addr{IPNet: ipNet(prefix)}
			if prefix.Addr().Is6() {
				addr.Flags = unix.IFA_F_NODAD
			}
			if err := handle.AddrAdd(link, addr); err != nil {
				return fmt.Errorf("address %s of %s: %w", prefix, name, err)
			}
		}
		if err := handle.LinkSetUp(link); err != nil {
			return fmt.Errorf("bring up %s: %w", name, err)
		}
		return nil
	})
}
