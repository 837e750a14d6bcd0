package network

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// static makes the network as planned, as far as the cards are there. It is for one
// goroutine.
type static struct {
	plan       netconfig.Plan
	operations []netconfig.Operation
	kernel     Kernel
	log        *slog.Logger
	done       map[string]int   // index of the interface for which an operation was done
	failed     map[string]error // by operation
}

func newStatic(p netconfig.Plan, k Kernel, log *slog.Logger) *static {
	return &static{plan: p, operations: p.Operations(), kernel: k, log: log, done: map[string]int{},
		failed: map[string]error{}}
}

// step does the operations that are possible now, and returns the links afterwards. An operation that fails is tried
// again at the next step, and holds up all later ones of its link.
func (s *static) step(links []Link) ([]Link, error) {
	stuck := map[string]bool{} // IDs of links with something left to do
	for _, o := range s.operations {
		on, there := s.find(o.Link, links)
		if there && s.done[o.String()] == on.Index || stuck[o.Link.ID] {
			continue
		}
		if o.Action == netconfig.Create && there {
			s.done[o.String()] = on.Index // made by an agent before us, or by an attempt that reported an error
			continue
		}
		other, err := s.other(o, links, stuck)
		if o.Action == netconfig.Create && err == nil {
			o.Link.MAC, err = s.address(o.Link, links)
		}
		if err != nil || !there && o.Action != netconfig.Create {
			stuck[o.Link.ID] = true // a card, or the link below, has not appeared yet
			continue
		}
		if err := s.kernel.Do(o, on, other); err != nil {
			stuck[o.Link.ID] = true
			s.fail(o, err)
			continue
		}
		delete(s.failed, o.String())
		s.log.Debug("network plan", "done", o.String())
		if o.Action == netconfig.Create {
			if links, err = s.kernel.Links(); err != nil {
				return nil, err
			}
			on, _ = s.find(o.Link, links)
		}
		s.done[o.String()] = on.Index
	}
	return links, nil
}

// address is the MAC address for a new link. A bond without a planned address gets the address of its first member at
// hand. Without one the kernel invents an address, which no DHCP server knows, and changes it when a member joins.
func (s *static) address(planned netconfig.Link, links []Link) (net.HardwareAddr, error) {
	if planned.Kind != netconfig.Bond || len(planned.MAC) > 0 {
		return planned.MAC, nil
	}
	for _, id := range planned.Bonding.Members {
		member, _ := s.plan.Link(id) // which Check has found
		if l, ok := s.find(member, links); ok {
			return l.own(), nil
		}
	}
	return nil, fmt.Errorf("no member of bond %q is there yet", planned.ID)
}

// other finds the link that an operation attaches its own to.
func (s *static) other(o netconfig.Operation, links []Link, stuck map[string]bool) (Link, error) {
	if o.Other == "" {
		return Link{}, nil
	}
	planned, _ := s.plan.Link(o.Other) // which Check has found
	l, ok := s.find(planned, links)
	if !ok || stuck[o.Other] {
		return Link{}, fmt.Errorf("link %q is not there yet", o.Other)
	}
	return l, nil
}

// fail logs an error when it is new.
func (s *static) fail(o netconfig.Operation, err error) {
	before := s.failed[o.String()]
	s.failed[o.String()] = err
	if before == nil || before.Error() != err.Error() {
		s.log.Warn("network not as planned; trying again each second", "operation", o.String(), "err", err)
	}
}

// find is the interface of a planned link. A card is found by its permanent address: in
// a bond it has another.
func (s *static) find(planned netconfig.Link, links []Link) (Link, bool) {
	i := slices.IndexFunc(links, func(l Link) bool { return isLink(planned, l) })
	if i < 0 {
		return Link{}, false
	}
	return links[i], true
}

func isLink(planned netconfig.Link, l Link) bool {
	if planned.Kind != netconfig.Card {
		return !l.Physical && l.Name == planned.Name
	}
	if len(planned.MAC) == 0 {
		return l.Physical && l.Name == planned.Name
	}
	return l.Physical && bytes.Equal(l.own(), planned.MAC)
}

// own is a card's permanent address, also while a bond sets another.
func (l Link) own() net.HardwareAddr {
	if len(l.Permanent) == 6 {
		return l.Permanent
	}
	return l.MAC
}

// linkOf is the planned link that an interface is.
func (s *static) linkOf(l Link) (netconfig.Link, bool) {
	for _, planned := range s.plan.Links {
		if isLink(planned, l) {
			return planned, true
		}
	}
	return netconfig.Link{}, false
}

// joins reports whether a link is a member of a bond.
func (s *static) joins(planned netconfig.Link) bool {
	return slices.ContainsFunc(s.plan.Links, func(l netconfig.Link) bool {
		return slices.Contains(l.Bonding.Members, planned.ID)
	})
}

// ready reports whether all is done for an interface.
func (s *static) ready(l Link) bool {
	return s.all(l, func(netconfig.Action) bool { return true })
}

// made reports whether an interface is there and on, with or without its addresses.
func (s *static) made(l Link) bool {
	return s.all(l, func(a netconfig.Action) bool {
		return a != netconfig.SetAddress && a != netconfig.SetRoute
	})
}

func (s *static) all(l Link, counts func(netconfig.Action) bool) bool {
	planned, _ := s.linkOf(l)
	for _, o := range s.operations {
		if o.Link.ID == planned.ID && counts(o.Action) && s.done[o.String()] != l.Index {
			return false
		}
	}
	return true
}

// config is a static link's configuration, for callers that wait for it.
func (s *static) config(l Link) *Config {
	planned, _ := s.linkOf(l)
	return &Config{Address: planned.Addresses[0]}
}

// missing names the plan's missing parts; "" for none.
func (s *static) missing() string {
	var parts []string
	for _, l := range s.plan.Links {
		for _, o := range s.operations {
			if o.Link.ID != l.ID {
				continue
			}
			if err := s.failed[o.String()]; err != nil {
				parts = append(parts, fmt.Sprintf("link %q: %s", l.ID, err))
				break
			}
			if s.done[o.String()] == 0 {
				parts = append(parts, fmt.Sprintf("link %q: %s", l.ID, absent(l)))
				break
			}
		}
	}
	return strings.Join(parts, ", ")
}

// absent explains why a link is missing.
func absent(l netconfig.Link) string {
	switch {
	case l.Kind != netconfig.Card:
		return "waits for the links it is made of"
	case len(l.MAC) > 0:
		return fmt.Sprintf("no card has the MAC address %s", l.MAC)
	}
	return fmt.Sprintf("no card has the name %s", l.Name)
}
