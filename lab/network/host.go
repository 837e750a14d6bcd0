package network

import (
	"fmt"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// HostLink is the card of a host that is plugged into the lab's bridge.
const HostLink = "eth0"

// ipForward makes a namespace a router. The file belongs to the namespace of the thread that opens it.
const ipForward = "/proc/sys/net/ipv4/ip_forward"

// AddHost makes another computer on the bridge, a namespace of its own that ends with this one. Its
// name and the lab's id together have at most 31 characters; address is in the lab's subnet.
func (n *Namespace) AddHost(name string, address netip.Prefix) (*Namespace, error) {
	h, err := newNamespace(n.id+"-"+name, n.log)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	n.mu.Lock()
	n.hosts = append(n.hosts, h)
	n.mu.Unlock()
	if err := n.Do(func() error { return plugHost(name, int(h.file.Fd())) }); err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	if err := h.Address(HostLink, address); err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	return h, nil
}

// plugHost makes the cable between the bridge and the host. file is the host's open namespace.
func plugHost(name string, file int) error {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	defer handle.Close()
	bridge, err := handle.LinkByName(BridgeName)
	if err != nil {
		return fmt.Errorf("find %s: %w", BridgeName, err)
	}
	cable := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "to-" + name, MasterIndex: bridge.Attrs().Index},
		PeerName: HostLink, PeerNamespace: netlink.NsFd(file)}
	if err := handle.LinkAdd(cable); err != nil {
		return fmt.Errorf("cable to %s: %w", BridgeName, err)
	}
	if err := handle.LinkSetUp(cable); err != nil {
		return fmt.Errorf("bring up the cable to %s: %w", BridgeName, err)
	}
	return nil
}

// Forwards makes the namespace forward IPv4 packets between its links.
func (n *Namespace) Forwards() error {
	return n.Do(func() error { return os.WriteFile(ipForward, []byte("1"), 0) })
}

// Route sends packets for a subnet to a router.
func (n *Namespace) Route(to netip.Prefix, router netip.Addr) error {
	return n.Do(func() error {
		handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return fmt.Errorf("netlink: %w", err)
		}
		defer handle.Close()
		if err := handle.RouteAdd(&netlink.Route{Dst: ipNet(to), Gw: router.AsSlice()}); err != nil {
			return fmt.Errorf("route to %s by %s: %w", to, router, err)
		}
		return nil
	})
}
