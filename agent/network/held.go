package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// Held is an interface with the static addresses of the plan.
type Held struct {
	Link    Link
	Base    string // the card or bond below a VLAN; else the interface itself
	Carrier bool
	Planned netconfig.Link
}

// Static are the interfaces with static addresses, by name.
func (m *Manager) Static() ([]Held, error) {
	links, err := m.kernel.Links()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Held
	for _, s := range m.state {
		if s.role != fixed || s.config == nil {
			continue
		}
		planned, _ := m.static.linkOf(s.link)
		h := Held{Link: s.link, Base: s.link.Name, Carrier: s.carrier, Planned: planned}
		if parent, ok := m.Plan.Link(planned.Parent); ok {
			if below, there := m.static.find(parent, links); there {
				h.Base = below.Name
			}
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b Held) int { return strings.Compare(a.Link.Name, b.Link.Name) })
	return all, nil
}

// behind is added to the metrics of a dead router's routes.
const behind = 10000

// Demote puts the routes by a router behind all others, or back to their place.
func (m *Manager) Demote(name string, router netip.Addr, dead bool) error {
	all, err := m.Static()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(h Held) bool { return h.Link.Name == name })
	if at < 0 {
		return fmt.Errorf("routes by %s: %s has no static address any more", router, name)
	}
	for _, r := range all[at].Planned.Routes {
		if r.Gateway != router {
			continue
		}
		from, to := r.Metric, r.Metric+behind
		if !dead {
			from, to = to, from
		}
		if err := m.kernel.Move(all[at].Link, Route{To: r.To, Gateway: r.Gateway, Metric: from}, to); err != nil {
			return err
		}
	}
	return nil
}
