// Package floating holds an IPv4 address that moves between hosts. It puts the address on an interface of the current
// host, and announces it to the neighbours.
//
// It must not know why a host has it, nor which others could.
package floating

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Address is an address on an interface.
type Address struct {
	Interface string
	Prefix    netip.Prefix
}

// renewEvery is the interval at which the address's lifetime in the kernel is extended.
const renewEvery = time.Second

// Announcements are repeated: a switch may lose one, and a neighbour may be busy.
var announceAfter = []time.Duration{0, 100 * time.Millisecond, time.Second, 3 * time.Second}

// Take puts the address on its interface and announces it. The kernel removes it by itself when its time is over,
// should this process be killed or frozen: left says how much there is, again and again, until release. An address
// that the interface has for good is left as it is.
func Take(
	ctx context.Context, a Address, left func() time.Duration, log *slog.Logger,
) (release func() error, err error) {
	link, err := netlink.LinkByName(a.Interface)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", a.Interface, err)
	}
	fixed, err := a.fixed(link)
	if err != nil || fixed {
		return func() error { return nil }, err
	}
	if err := a.renew(link, left()); err != nil {
		return nil, err
	}
	log.Info("the boot address was taken", "address", a.Prefix, "interface", a.Interface)
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		a.keep(ctx, link, left, log)
	}()
	return func() error {
		cancel()
		<-over
		return a.remove(link)
	}, nil
}

// keep renews and announces the address until ctx ends.
func (a Address) keep(ctx context.Context, link netlink.Link, left func() time.Duration, log *slog.Logger) {
	began, told := time.Now(), 0
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	renewed := began
	for {
		if told < len(announceAfter) && time.Since(began) >= announceAfter[told] {
			if err := announce(a); err != nil {
				log.Warn("the boot address was not announced: neighbours find it out by themselves", "err", err)
			}
			told++
		}
		if time.Since(renewed) >= renewEvery && left() > 0 {
			renewed = time.Now()
			if err := a.renew(link, left()); err != nil {
				log.Warn("the boot address was not renewed; tried again", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// fixed reports whether the interface has the address for good.
func (a Address) fixed(link netlink.Link) (bool, error) {
	all, err := netlink.AddrList(link, netlink.FAMILY_V4)
	if err != nil {
		return false, fmt.Errorf("addresses of %s: %w", a.Interface, err)
	}
	for _, has := range all {
		if ip, ok := netip.AddrFromSlice(has.IP); ok && ip.Unmap() == a.Prefix.Addr() {
			return has.Flags&unix.IFA_F_PERMANENT != 0, nil
		}
	}
	return false, nil
}

// renew has the kernel keep the address for a time, in whole seconds.
func (a Address) renew(link netlink.Link, left time.Duration) error {
	address, err := netlink.ParseAddr(a.Prefix.String())
	if err != nil {
		return err
	}
	address.ValidLft = max(1, int(math.Ceil(left.Seconds())))
	address.PreferedLft = address.ValidLft
	if err := netlink.AddrReplace(link, address); err != nil {
		return fmt.Errorf("put %s on %s: %w", a.Prefix, a.Interface, err)
	}
	return nil
}

func (a Address) remove(link netlink.Link) error {
	address, err := netlink.ParseAddr(a.Prefix.String())
	if err != nil {
		return err
	}
	if err := netlink.AddrDel(link, address); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		return fmt.Errorf("take %s off %s: %w", a.Prefix, a.Interface, err)
	}
	return nil
}
