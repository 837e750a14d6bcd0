package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Linux is the kernel over netlink.
type Linux struct{}

// Links lists the interfaces.
func (Linux) Links() ([]Link, error) {
	all, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	var links []Link
	for _, l := range all {
		a := l.Attrs()
		_, err := os.Stat(filepath.Join("/sys/class/net", a.Name, "device"))
		links = append(links, Link{Index: a.Index, Name: a.Name, MAC: a.HardwareAddr, Permanent: a.PermHWAddr,
			Physical: err == nil && a.EncapType == "ether"})
	}
	return links, nil
}

// Up switches an interface on.
func (Linux) Up(l Link) error {
	if err := netlink.LinkSetUp(handle(l)); err != nil {
		return fmt.Errorf("switch %s on: %w", l.Name, err)
	}
	return nil
}

// Down switches an interface off.
func (Linux) Down(l Link) error {
	if err := netlink.LinkSetDown(handle(l)); err != nil {
		return fmt.Errorf("switch %s off: %w", l.Name, err)
	}
	return nil
}

// Carrier reports whether there is a link. Asking DHCP before there is one
// costs the whole of its timeout.
func (Linux) Carrier(l Link) bool {
	b, err := os.ReadFile(filepath.Join("/sys/class/net", l.Name, "carrier"))
	return err == nil && strings.TrimSpace(string(b)) == "1"
}

// Configure sets address, routes and MTU.
func (Linux) Configure(l Link, c Config) error {
	link := handle(l)
	if c.MTU > 0 {
		if err := netlink.LinkSetMTU(link, c.MTU); err != nil {
			return fmt.Errorf("set MTU %d of %s: %w", c.MTU, l.Name, err)
		}
	}
	if err := netlink.AddrReplace(link, address(c)); err != nil {
		return fmt.Errorf("set address %s of %s: %w", c.Address, l.Name, err)
	}
	for _, r := range c.Routes {
		if err := netlink.RouteReplace(route(l, r)); err != nil {
			return fmt.Errorf("set route to %s by %s through %s: %w", r.To, r.Gateway, l.Name, err)
		}
	}
	return nil
}

// Move gives a route another metric: the new one is there before the old one goes.
func (Linux) Move(l Link, r Route, metric int) error {
	old := route(l, r)
	r.Metric = metric
	if err := netlink.RouteReplace(route(l, r)); err != nil {
		return fmt.Errorf("set route to %s by %s through %s: %w", r.To, r.Gateway, l.Name, err)
	}
	if err := netlink.RouteDel(old); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("take route to %s by %s through %s: %w", r.To, r.Gateway, l.Name, err)
	}
	return nil
}

// Deconfigure takes the address away, and the routes with it.
func (Linux) Deconfigure(l Link, c Config) error {
	err := netlink.AddrDel(handle(l), address(c))
	if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("take address %s from %s: %w", c.Address, l.Name, err)
	}
	return nil
}

// Changes signals that links came, went or changed.
func (Linux) Changes(ctx context.Context) (<-chan struct{}, error) {
	updates := make(chan netlink.LinkUpdate, 16)
	if err := netlink.LinkSubscribe(updates, ctx.Done()); err != nil {
		return nil, fmt.Errorf("listen for link changes: %w", err)
	}
	changes := make(chan struct{}, 1)
	go func() { // ends when the subscription does, with ctx
		for range updates {
			select {
			case changes <- struct{}{}:
			default:
			}
		}
	}()
	return changes, nil
}

// Loopback switches the lo interface on.
func Loopback() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}

func handle(l Link) netlink.Link {
	return &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: l.Index, Name: l.Name}}
}

func address(c Config) *netlink.Addr {
	bits := c.Address.Addr().BitLen()
	return &netlink.Addr{IPNet: &net.IPNet{IP: c.Address.Addr().AsSlice(), Mask: net.CIDRMask(c.Address.Bits(), bits)}}
}

func route(l Link, r Route) *netlink.Route {
	out := &netlink.Route{
		LinkIndex: l.Index, Priority: r.Metric,
		Dst: &net.IPNet{IP: r.To.Addr().AsSlice(), Mask: net.CIDRMask(r.To.Bits(), r.To.Addr().BitLen())},
	}
	if r.Gateway.IsValid() {
		out.Gw = r.Gateway.AsSlice()
		// A gateway outside the interface's own subnet is usual with /32.
		out.Flags = int(netlink.FLAG_ONLINK)
	} else {
		out.Scope = netlink.SCOPE_LINK
	}
	return out
}
