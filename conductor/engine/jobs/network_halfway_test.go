package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// halfway is a node in clean failed: Neutron has answered nothing more as the machine was to enter its ramdisk's
// network, and may have made the port all the same.
func halfway(t *testing.T) (w *enginetest.World, s *switches, n node.Node, port node.Port) {
	t.Helper()
	w, s, n, port = networked(t, "neutron")
	failClean(w, s, n)
	return w, s, n, port
}

// failClean has the attach of a clean fail.
func failClean(w *enginetest.World, s *switches, n node.Node) {
	w.T.Helper()
	s.fail = node.Refuse(node.Invalid, "the second port is refused")
	reach(w, n.UUID, plan.Request{Verb: node.Provide}, node.CleanFailed)
	s.said = nil
}

// other gives a node in maintenance another network interface.
func other(w *enginetest.World, n node.Node, network string) {
	w.T.Helper()
	w.Must(w.E.SetMaintenance(w.Ctx, n.UUID, true, "of the test"))
	_, err := w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error {
		n.Interfaces["network"] = network
		return nil
	})
	w.Must(err)
}

// TestNetworkHalfway: a machine that may have entered the network of a ramdisk is taken out of it, even if its node's
// network interface has changed. It is not started there.
func TestNetworkHalfway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, _ := halfway(t)
		defer w.Close()
		var refused *node.Refusal
		if err := w.E.SetPower(w.Ctx, n.UUID, node.PowerOn, 0); !errors.As(err, &refused) {
			t.Errorf("a start in what may be the network of the ramdisk: %v", err)
		}
		reach(w, n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		failClean(w, s, n)
		other(w, n, "noop")
		if err := w.E.SetPower(w.Ctx, n.UUID, node.PowerOn, 0); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), "network interface noop") {
			t.Errorf("a start with network interface noop: %v", err)
		}
		reach(w, n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		if !slices.Equal(s.said, []string{"leave"}) {
			t.Errorf("with noop the switches heard %q", s.said)
		}
		w.Must(w.E.SetPower(w.Ctx, n.UUID, node.PowerOn, 0))
		w.Settled(n.UUID)
		other(w, n, "neutron")
		failClean(w, s, n)
		w.Must(w.E.SetMaintenance(w.Ctx, n.UUID, true, "of the test"))
		w.Must(w.E.DeleteNode(w.Ctx, n.UUID))
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
		defer w.Close()
		reach(w, n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		s.said = nil
		for _, fails := range []bool{false, true} {
			gone := func() context.Context { // as Neutron is asked
				ctx, leave := context.WithCancel(w.Ctx)
				s.heard = leave
				if fails {
					s.fail = errors.New("no answer")
				}
				return ctx
			}
			err := w.E.AttachVIF(gone(), n.UUID, node.VIF{ID: "v1"})
			vifs, _ := w.E.VIFs(w.Ctx, n.UUID)
			if (err != nil) != fails || (len(vifs) > 0) == fails {
				t.Errorf("attach: %v, attached are %q", err, vifs)
			}
			s.heard = nil
			if fails {
				w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1"}))
			}
			before, err := w.E.Port(w.Ctx, port.UUID)
			w.Must(err)
			to := map[bool]string{false: "52:54:00:00:00:0b", true: "52:54:00:00:00:0c"}[fails]
			_, err = w.E.UpdatePort(gone(), port.UUID, func(p *node.Port) error {
				p.Address = to
				return nil
			})
			is, _ := w.E.Port(w.Ctx, port.UUID)
			if (err != nil) != fails || (is.Address == to) == fails || (is.Address == before.Address) != fails {
				t.Errorf("address: %v, the port has %s", err, is.Address)
			}
			s.heard = nil
			w.Must(w.E.DetachVIF(w.Ctx, n.UUID, "v1"))
		}
	})
}

// TestNetworkPortDeleted: the record of a port that may be in the network of a ramdisk is not deleted before Neutron's
// port is.
func TestNetworkPortDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, port := halfway(t)
		defer w.Close()
		stays := func(kind node.Kind, says string) {
			t.Helper()
			var refused *node.Refusal
			if err := w.E.DeletePort(w.Ctx, port.UUID); !errors.As(err, &refused) || refused.Kind != kind ||
				!strings.Contains(err.Error(), says) {
				t.Errorf("%v, expected %q", err, says)
			}
			_, err := w.E.Port(w.Ctx, port.UUID)
			w.Must(err)
		}
		stays(node.Conflict, "manage")
		w.Must(w.E.SetMaintenance(w.Ctx, n.UUID, true, "of the test"))
		s.fail = errors.New("no answer")
		stays(node.Busy, "no answer")
		w.Must(w.E.DeletePort(w.Ctx, port.UUID))
		if !slices.Equal(s.said, []string{"leave", "leave"}) {
			t.Errorf("the switches heard %q", s.said)
		}
	})
}
