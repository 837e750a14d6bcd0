package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const (
	// linkWait is how long cards may take to appear and get carrier, leaseWait how long
	// DHCP is tried on one.
	linkWait  = 60 * time.Second
	linkPoll  = 50 * time.Millisecond
	leaseWait = 60 * time.Second
)

// configureNetwork leases an address for every Ethernet card with carrier and returns
// when one has it.
func configureNetwork() error {
	links, err := raiseLinks()
	if err != nil {
		return err
	}
	results := make(chan error, len(links))
	for _, link := range links {
		go func() { results <- configureLink(link) }()
	}
	var failed error
	for range links {
		err := <-results
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// raiseLinks switches all cards on, since carrier shows only then, and waits until one
// has carrier. Cards without get one more poll.
func raiseLinks() ([]netlink.Link, error) {
	for end := time.Now().Add(linkWait); time.Now().Before(end); time.Sleep(linkPoll) {
		links, err := netlink.LinkList()
		if err != nil {
			return nil, fmt.Errorf("list network cards: %w", err)
		}
		var ready []netlink.Link
		for _, link := range links {
			attrs := link.Attrs()
			if err := netlink.LinkSetUp(link); err != nil {
				return nil, fmt.Errorf("switch on %s: %w", attrs.Name, err)
			}
			if attrs.EncapType == "ether" && attrs.RawFlags&unix.IFF_LOWER_UP != 0 {
				ready = append(ready, link)
			}
		}
		if len(ready) > 0 {
			return ready, nil
		}
	}
	return nil, fmt.Errorf("no network card with carrier within %s", linkWait)
}

func configureLink(link netlink.Link) error {
	name := link.Attrs().Name
	ctx, cancel := context.WithTimeout(context.Background(), leaseWait)
	defer cancel()
	client, err := nclient4.New(name, nclient4.WithTimeout(2*time.Second), nclient4.WithRetry(10))
	if err != nil {
		return fmt.Errorf("DHCP on %s: %w", name, err)
	}
	lease, err := client.Request(ctx)
	if err := errors.Join(err, client.Close()); err != nil {
		return fmt.Errorf("DHCP on %s: %w", name, err)
	}
	if err := apply(link, lease.ACK); err != nil {
		return fmt.Errorf("configure %s: %w", name, err)
	}
	return nil
}

func apply(link netlink.Link, ack *dhcpv4.DHCPv4) error {
	mask := ack.SubnetMask()
	if mask == nil {
		mask = ack.YourIPAddr.DefaultMask()
	}
	address := &net.IPNet{IP: ack.YourIPAddr, Mask: mask}
	if err := netlink.AddrReplace(link, &netlink.Addr{IPNet: address}); err != nil {
		return err
	}
	say("%s has %s", link.Attrs().Name, address)
	if err := os.WriteFile("/etc/resolv.conf", resolvConf(ack.DNS()), 0o644); err != nil {
		return err
	}
	routers := ack.Router()
	if len(routers) == 0 {
		return nil
	}
	return netlink.RouteReplace(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: routers[0]})
}

func resolvConf(servers []net.IP) []byte {
	var text []byte
	for _, server := range servers {
		text = fmt.Appendf(text, "nameserver %s\n", server)
	}
	return text
}
