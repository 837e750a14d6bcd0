package main

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"

	"github.com/ferrite-metal/ferrite/agent/contact"
	"github.com/ferrite-metal/ferrite/agent/netcheck"
	"github.com/ferrite-metal/ferrite/agent/network"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// dnsPort is the port of name servers.
const dnsPort = 53

// checkNetwork begins to check a network of static addresses, and says on the screen and in
// the log why it does not work. With DHCP there is nothing to check before there is an
// address.
func checkNetwork(ctx context.Context, p param.Params, plan netconfig.Plan, nics *network.Manager, board *screen.Board,
	log *slog.Logger) {
	if !slices.ContainsFunc(plan.Links, func(l netconfig.Link) bool { return len(l.Addresses) > 0 }) {
		return
	}
	c := netcheck.Checker{
		Links: func() ([]netcheck.Link, error) { return staticLinks(nics) },
		Open:  netcheck.OpenWire, Servers: plan.DNS, Demote: nics.Demote, Log: log,
		AskServer: func(ctx context.Context, s netip.Addr) error {
			return netcheck.Query(ctx, netip.AddrPortFrom(s, dnsPort))
		},
		Conductor: func(ctx context.Context) []netcheck.Answer { return reachAll(ctx, p) },
		Report: func(failed []netcheck.Finding) {
			board.Set(func(s *screen.State) {
				s.Network = nil
				for _, f := range failed {
					s.Network = append(s.Network, f.String())
				}
			})
		},
	}
	go c.Run(ctx) // for the life of the machine
}

// staticLinks are the interfaces to check.
func staticLinks(nics *network.Manager) ([]netcheck.Link, error) {
	held, err := nics.Static()
	if err != nil {
		return nil, err
	}
	var links []netcheck.Link
	for _, h := range held {
		l := netcheck.Link{Name: h.Link.Name, Base: h.Base, Tag: h.Planned.Tag, Carrier: h.Carrier,
			Addresses: h.Planned.Addresses}
		copy(l.MAC[:], h.Link.MAC)
		for _, r := range h.Planned.Routes {
			if r.Gateway.Is4() && !slices.Contains(l.Routers, r.Gateway) {
				l.Routers = append(l.Routers, r.Gateway)
			}
		}
		links = append(links, l)
	}
	return links, nil
}

// reachAll looks at every address of the conductor until one works.
func reachAll(ctx context.Context, p param.Params) []netcheck.Answer {
	var out []netcheck.Answer
	for _, u := range p.APIURLs {
		conductor := contact.New(contact.Options{URLs: []string{u}, Pins: p.APIPins, Insecure: p.Insecure})
		a := netcheck.Reach(ctx, u, func(ctx context.Context) error {
			_, err := conductor.Version(ctx)
			return err
		})
		if out = append(out, a); a.Err == nil {
			break
		}
	}
	return out
}
