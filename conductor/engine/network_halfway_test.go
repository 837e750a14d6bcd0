package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// halfway is a node in clean failed: Neutron has answered nothing more as the machine was to enter its ramdisk's
// network, and may have made the port all the same.
func halfway(t *testing.T) (w *world, s *switches, n node.Node, port node.Port) {
	t.Helper()
	w, s, n, port = networked(t, "neutron")
	w.failClean(s, n)
	return w, s, n, port
}

// failClean has the attach of a clean fail.
func (w *world) failClean(s *switches, n node.Node) {
	w.t.Helper()
	s.fail = node.Refuse(node.Invalid, "the second port is refused")
	w.reach(n.UUID, plan.Request{Verb: node.Provide}, node.CleanFailed)
	s.said = nil
}

// other gives a node in maintenance another network interface.
func (w *world) other(n node.Node, network string) {
	w.t.Helper()
	w.must(w.e.SetMaintenance(w.ctx, n.UUID, true, "of the test"))
	_, err := w.e.UpdateNode(w.ctx, n.UUID, func(n *node.Node) error {
		n.Interfaces["network"] = network
		return nil
	})
	w.must(err)
}

// TestNetworkHalfway: a machine that may have entered the network of a ramdisk is taken out of it, even if its node's
// network interface has changed. It is not started there.
func TestNetworkHalfway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, _ := halfway(t)
		defer w.close()
		var refused *node.Refusal
		if err := w.e.SetPower(w.ctx, n.UUID, node.PowerOn, 0); !errors.As(err, &refused) {
			t.Errorf("a start in what may be the network of the ramdisk: %v", err)
		}
		w.reach(n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		w.failClean(s, n)
		w.other(n, "noop")
		if err := w.e.SetPower(w.ctx, n.UUID, node.PowerOn, 0); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), "network interface noop") {
			t.Errorf("a start with network interface noop: %v", err)
		}
		w.reach(n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		if !slices.Equal(s.said, []string{"leave"}) {
			t.Errorf("with noop the switches heard %q", s.said)
		}
		w.must(w.e.SetPower(w.ctx, n.UUID, node.PowerOn, 0))
		w.settled(n.UUID)
		w.other(n, "neutron")
		w.failClean(s, n)
		w.must(w.e.SetMaintenance(w.ctx, n.UUID, true, "of the test"))
		w.must(w.e.DeleteNode(w.ctx, n.UUID))
		if !slices.Equal(s.said, []string{"leave"}) {
			t.Errorf("before the node went the switches heard %q", s.said)
		}
	})
}

// TestNetworkAlone: a client that goes away in the middle leaves nothing half done: the VIF is changed in Neutron and
// on record, or in neither.
func TestNetworkAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, port := halfway(t)
		defer w.close()
		w.reach(n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		s.said = nil
		for _, fails := range []bool{false, true} {
			gone := func() context.Context { // as Neutron is asked
				ctx, leave := context.WithCancel(w.ctx)
				s.heard = leave
				if fails {
					s.fail = errors.New("no answer")
				}
				return ctx
			}
			err := w.e.AttachVIF(gone(), n.UUID, node.VIF{ID: "v1"})
			vifs, _ := w.e.VIFs(w.ctx, n.UUID)
			if (err != nil) != fails || (len(vifs) > 0) == fails {
				t.Errorf("attach: %v, attached are %q", err, vifs)
			}
			s.heard = nil
			if fails {
				w.must(w.e.AttachVIF(w.ctx, n.UUID, node.VIF{ID: "v1"}))
			}
			before, err := w.e.Port(w.ctx, port.UUID)
			w.must(err)
			to := map[bool]string{false: "52:54:00:00:00:0b", true: "52:54:00:00:00:0c"}[fails]
			_, err = w.e.UpdatePort(gone(), port.UUID, func(p *node.Port) error {
				p.Address = to
				return nil
			})
			is, _ := w.e.Port(w.ctx, port.UUID)
			if (err != nil) != fails || (is.Address == to) == fails || (is.Address == before.Address) != fails {
				t.Errorf("address: %v, the port has %s", err, is.Address)
			}
			s.heard = nil
			w.must(w.e.DetachVIF(w.ctx, n.UUID, "v1"))
		}
	})
}

// TestNetworkPortDeleted: the record of a port that may be in the network of a ramdisk is not deleted before Neutron's
// port is.
func TestNetworkPortDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, port := halfway(t)
		defer w.close()
		stays := func(kind node.Kind, says string) {
			t.Helper()
			var refused *node.Refusal
			if err := w.e.DeletePort(w.ctx, port.UUID); !errors.As(err, &refused) || refused.Kind != kind ||
				!strings.Contains(err.Error(), says) {
				t.Errorf("%v, expected %q", err, says)
			}
			_, err := w.e.Port(w.ctx, port.UUID)
			w.must(err)
		}
		stays(node.Conflict, "manage")
		w.must(w.e.SetMaintenance(w.ctx, n.UUID, true, "of the test"))
		s.fail = errors.New("no answer")
		stays(node.Busy, "no answer")
		w.must(w.e.DeletePort(w.ctx, port.UUID))
		if !slices.Equal(s.said, []string{"leave", "leave"}) {
			t.Errorf("the switches heard %q", s.said)
		}
	})
}
