package netcheck

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// Wire sends frames on a card or bond, and keeps the frames that arrive there. Its methods are safe for concurrent
// use.
type Wire interface {
	Send(frame []byte) error
	Heard() *Heard // a copy
	Forget(tag int, a netip.Addr)
	Close()
}

// How often is asked, and how long is waited for an answer.
const (
	asks    = 3
	askWait = time.Second
)

// round asks all hosts once, and returns the observation. Without servers it looks at links, addresses and routers
// alone.
func (c *Checker) round(ctx context.Context, servers bool) (Observation, error) {
	links, err := c.Links()
	if err != nil {
		return Observation{}, err
	}
	o := Observation{Links: links, Heard: map[string]*Heard{}}
	c.forget(links)
	for range asks {
		c.ask(links)
		if !sys.Sleep(ctx, askWait) {
			return o, ctx.Err()
		}
		if len(c.silent(links)) == 0 {
			break
		}
	}
	if silent := c.silent(links); len(silent) > 0 {
		c.search(silent)
		if !sys.Sleep(ctx, askWait) {
			return o, ctx.Err()
		}
	}
	for base, w := range c.wires {
		o.Heard[base] = w.Heard()
	}
	c.reroute(o) // before servers are asked, which may be behind a router
	if servers {
		o.DNS = c.askServers(ctx)
		o.Conductor = c.Conductor(ctx)
	}
	return o, ctx.Err()
}

// forget opens the wires that are not open yet, and forgets the addresses of this round.
func (c *Checker) forget(links []Link) {
	for _, l := range links {
		if !l.Carrier {
			continue
		}
		w := c.wires[l.Base]
		if w == nil {
			var err error
			if w, err = c.Open(l.Base); err != nil {
				c.Log.Warn("network not checked", "interface", l.Base, "err", err)
				continue
			}
			c.wires[l.Base] = w
		}
		for _, a := range l.Addresses {
			w.Forget(l.Tag, a.Addr())
		}
		for _, r := range l.Routers {
			w.Forget(l.Tag, r)
		}
	}
}

// ask sends a probe for each own address, and a request for each router.
func (c *Checker) ask(links []Link) {
	for _, l := range links {
		for _, a := range l.Addresses {
			if a.Addr().Is4() {
				c.send(l, l.Tag, netip.Addr{}, a.Addr())
			}
		}
		for _, r := range l.Routers {
			c.send(l, l.Tag, sender(l, r), r)
		}
	}
}

// sender is the link's address in a router's network.
func sender(l Link, r netip.Addr) netip.Addr {
	for _, a := range l.Addresses {
		if a.Addr().Is4() && (a.Contains(r) || a.IsSingleIP()) {
			return a.Addr()
		}
	}
	return netip.Addr{}
}

func (c *Checker) send(l Link, tag int, from, target netip.Addr) {
	w := c.wires[l.Base]
	if w == nil || !l.Carrier {
		return
	}
	frame, err := Request(l.MAC, tag, from, target)
	if err == nil {
		err = w.Send(frame)
	}
	if err != nil {
		c.Log.Debug("ARP request not sent", "interface", l.Name, "target", target.String(), "err", err)
	}
}

// silent are the links with a router that has not answered; each has those routers alone.
func (c *Checker) silent(links []Link) []Link {
	var out []Link
	for _, l := range links {
		w := c.wires[l.Base]
		if w == nil || !l.Carrier {
			continue
		}
		heard := w.Heard()
		l.Routers = slices.DeleteFunc(slices.Clone(l.Routers), func(r netip.Addr) bool {
			return heard.answered(l.Tag, r)
		})
		if len(l.Routers) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// search asks for silent routers in the other VLANs of the port, and for their neighbours.
func (c *Checker) search(silent []Link) {
	for _, l := range silent {
		heard := c.wires[l.Base].Heard()
		tags := slices.Concat([]int{0}, heard.seen(), heard.Announced)
		slices.Sort(tags)
		tags = slices.DeleteFunc(slices.Compact(tags), func(t int) bool { return t == l.Tag })
		for _, r := range l.Routers {
			for _, tag := range tags[:min(len(tags), mostNamed)] {
				c.send(l, tag, netip.Addr{}, r)
			}
			for _, a := range Neighbours(subnetOf(l, r), r, sender(l, r)) {
				c.send(l, l.Tag, sender(l, r), a)
			}
		}
	}
}

// near is how many addresses are tried on each side of a known one.
const near = 16

// Neighbours are addresses of a network that a host may have: the first and last ones, and
// those beside known ones.
func Neighbours(subnet netip.Prefix, known ...netip.Addr) []netip.Addr {
	if subnet.IsSingleIP() || !subnet.Addr().Is4() {
		return nil
	}
	first := number(subnet.Masked().Addr())
	last := first + 1<<(32-subnet.Bits()) - 1
	var all []uint64
	centres := []uint64{first, last}
	for _, a := range known {
		if a.Is4() {
			centres = append(centres, number(a))
		}
	}
	for _, n := range centres {
		for i := range uint64(2*near + 1) {
			if at := n + i; at > first+near && at-near < last {
				all = append(all, at-near)
			}
		}
	}
	slices.Sort(all)
	var out []netip.Addr
	for _, n := range slices.Compact(all) {
		if a := address(n); !slices.Contains(known, a) {
			out = append(out, a)
		}
	}
	return out
}

func number(a netip.Addr) uint64 {
	b := a.As4()
	return uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])
}

func address(n uint64) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) //nolint:gosec // 32 bits
}
