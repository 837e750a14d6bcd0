package netcheck

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// Checker checks the network, round after round.
type Checker struct {
	Links     func() ([]Link, error)                                // as they are now
	Open      func(base string) (Wire, error)                       //
	Servers   []netip.Addr                                          // for names
	AskServer func(ctx context.Context, server netip.Addr) error    //
	Conductor func(ctx context.Context) []Answer                    //
	Report    func(failed []Finding)                                // failed checks; none when all is well
	Demote    func(link string, router netip.Addr, dead bool) error // prefer other routers, or this one again
	Log       *slog.Logger

	wires  map[string]Wire
	failed map[string]*failure
	moved  map[string]bool // routers demoted
	shown  []Finding       // in the last report
}

// failure is a check that fails.
type failure struct {
	rounds int
	logged string
	at     time.Time
}

// Pauses between rounds: while something fails, and later on.
const (
	failing = 5 * time.Second
	watch   = time.Minute
	relog   = time.Minute // least time between two lines about one check
	sure    = 2           // failed rounds before a check is reported: a port may begin to forward late
	look    = time.Second / 4
)

// Run checks until ctx ends. After a round in which all answered it looks only after the
// links and routers.
func (c *Checker) Run(ctx context.Context) {
	c.wires, c.failed, c.moved = map[string]Wire{}, map[string]*failure{}, map[string]bool{}
	defer c.closeWires()
	servers := true
	c.awaitLinks(ctx)
	for {
		o, err := c.round(ctx, servers)
		if ctx.Err() != nil {
			return
		}
		pause := failing
		if err != nil {
			c.Log.Warn("network not checked", "err", err)
		} else if found := Judge(o); c.report(found, time.Now()) == 0 {
			if servers {
				c.Log.Info("network checks passed", "checks", len(found))
			}
			servers, pause = false, watch
			c.closeWires() // a wire that listens costs time at each frame
		}
		if !sys.Sleep(ctx, pause) {
			return
		}
	}
}

// awaitLinks waits until an address is set, so that the first round has something to ask. It does not wait for long,
// since a card that never turns up is a failure to report.
func (c *Checker) awaitLinks(ctx context.Context) {
	for range failing / look {
		if links, err := c.Links(); err != nil || len(links) > 0 || !sys.Sleep(ctx, look) {
			return
		}
	}
}

func (c *Checker) closeWires() {
	for base, w := range c.wires {
		w.Close()
		delete(c.wires, base)
	}
}

// report logs changes, and reports certain failures. It returns the number of failures.
func (c *Checker) report(found []Finding, now time.Time) int {
	var certain []Finding
	count := 0
	for _, f := range found {
		known := c.failed[f.Subject]
		if f.OK {
			if known != nil && known.logged != "" {
				c.Log.Info("network check passes now", "check", string(f.Check), "of", f.Subject)
			}
			delete(c.failed, f.Subject)
			continue
		}
		count++
		if known == nil {
			known = &failure{}
			c.failed[f.Subject] = known
		}
		if known.rounds++; known.rounds < sure {
			continue
		}
		certain = append(certain, f)
		if text := f.String(); text != known.logged && (known.logged == "" || now.Sub(known.at) >= relog) {
			c.Log.Warn("network check fails", "check", string(f.Check), "of", f.Subject, "reason", f.Reason, "do", f.Remedy)
			known.logged, known.at = text, now
		}
	}
	if !slices.Equal(certain, c.shown) {
		c.Report(certain)
		c.shown = certain
	}
	return count
}

// reroute puts routers that have not answered in this round behind those that have, and back when they
// answer again. It needs no second round: where a port forwards late, no router answers.
func (c *Checker) reroute(o Observation) {
	type at struct {
		link   Link
		router netip.Addr
		key    string
	}
	var alive, dead []at
	for _, l := range o.Links {
		h := o.Heard[l.Base]
		for _, r := range l.Routers {
			a := at{l, r, "router " + r.String() + " on " + l.Name}
			switch {
			case !l.Carrier || h != nil && !h.answered(l.Tag, r):
				dead = append(dead, a)
			case h != nil:
				alive = append(alive, a)
			}
		}
	}
	for _, a := range alive {
		if c.moved[a.key] && c.demote(a.link.Name, a.router, false) {
			c.moved[a.key] = false
			c.Log.Info("router answers and is used again", "router", a.router.String(), "interface", a.link.Name)
		}
	}
	if len(alive) == 0 {
		return // no other is better
	}
	for _, d := range dead {
		if !c.moved[d.key] && c.demote(d.link.Name, d.router, true) {
			c.moved[d.key] = true
			c.Log.Warn("router does not answer; another one is used", "router", d.router.String(), "interface", d.link.Name,
				"instead", alive[0].router.String())
		}
	}
}

func (c *Checker) demote(link string, r netip.Addr, dead bool) bool {
	if err := c.Demote(link, r, dead); err != nil {
		c.Log.Warn("routes not changed", "router", r.String(), "interface", link, "err", err)
		return false
	}
	return true
}
