package records_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// wired is a node with one portgroup and one port in it that does not boot.
func wired(t *testing.T) (e *engine.Engine, n node.Node, g node.Portgroup, p node.Port) {
	t.Helper()
	ctx := t.Context()
	e, _ = keeper(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	n, err := e.CreateNode(ctx, node.Node{Driver: "fake-hardware", Interfaces: map[string]string{"network": "flat"}})
	if err != nil {
		t.Fatal(err)
	}
	if g, err = e.Catalogs().Portgroups.Create(ctx,
		node.Portgroup{NodeUUID: n.UUID, Mode: node.DefaultMode, StandalonePorts: true}); err != nil {
		t.Fatal(err)
	}
	if p, err = e.CreatePort(ctx,
		node.Port{NodeUUID: n.UUID, Address: "52:54:00:00:00:01", PortgroupUUID: g.UUID}); err != nil {
		t.Fatal(err)
	}
	return e, n, g, p
}

// TestWiringRace: a port of a portgroup is to boot, and the portgroup is to have
// no ports that work alone. Either is right, both at once never.
func TestWiringRace(t *testing.T) {
	for range 50 {
		e, _, g, p := wired(t)
		var both sync.WaitGroup
		var ofPort, ofGroup error
		both.Go(func() {
			_, ofPort = e.UpdatePort(t.Context(), p.UUID, func(p *node.Port) error { p.PXEEnabled = true; return nil })
		})
		both.Go(func() {
			_, ofGroup = e.Catalogs().Portgroups.Update(t.Context(), g.UUID, func(g *node.Portgroup) error {
				g.StandalonePorts = false
				return nil
			})
		})
		both.Wait()
		if (ofPort == nil) == (ofGroup == nil) {
			t.Fatalf("the port: %v, the portgroup: %v: want one to be refused", ofPort, ofGroup)
		}
		if err := errors.Join(ofPort, ofGroup); !errors.Is(err, node.ErrConflict) {
			t.Errorf("refused with %v", err)
		}
	}
}

// TestPortgroupMoves: a portgroup and its ports are in one physical network,
// whichever of the calls to the store fails on the way into another.
func TestPortgroupMoves(t *testing.T) {
	ctx := t.Context()
	e, _, g, p := wired(t)
	s, ok := e.Store.(*mem.Store)
	if !ok {
		t.Fatalf("the store is a %T", e.Store)
	}
	for nth, failed := 1, true; failed; nth++ {
		s.Fail(mem.Fault{Nth: nth, Err: errors.New("the disk is full")})
		to := fmt.Sprintf("net%d", nth)
		_, err := e.Catalogs().Portgroups.Update(ctx, g.UUID, func(g *node.Portgroup) error {
			g.PhysicalNetwork = to
			return nil
		})
		s.Heal()
		if failed = err != nil; nth == 1 && !failed {
			t.Error("the first call did not fail")
		}
		group, err := e.Catalogs().Portgroups.Find(ctx, g.UUID)
		if err != nil {
			t.Fatal(err)
		}
		port, err := e.Port(ctx, p.UUID)
		if err != nil {
			t.Fatal(err)
		}
		if group.PhysicalNetwork != port.PhysicalNetwork || (group.PhysicalNetwork == to) == failed {
			t.Errorf("call %d, failed %v: the portgroup is in %q, its port in %q", nth, failed, group.PhysicalNetwork,
				port.PhysicalNetwork)
		}
	}
}

// TestVIFRace: of several VIFs for one port, one is attached.
func TestVIFRace(t *testing.T) {
	e, n, _, _ := wired(t)
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { errs[i] = e.AttachVIF(t.Context(), n.UUID, node.VIF{ID: fmt.Sprintf("v%d", i)}) })
	}
	all.Wait()
	refused := 0
	for _, err := range errs {
		if err != nil {
			refused++
		}
	}
	vifs, err := e.VIFs(t.Context(), n.UUID)
	if err != nil || len(vifs) != 1 || refused != len(errs)-1 {
		t.Errorf("attached %v (%v), %d refused", vifs, err, refused)
	}
}

// TestUpdatePortStale: an edit of a port that another overtakes is repeated on the other's result.
func TestUpdatePortStale(t *testing.T) {
	e, n, _, p := wired(t)
	runs := 0
	saved, err := e.UpdatePort(t.Context(), p.UUID, func(p *node.Port) error {
		if runs++; runs == 1 {
			if _, err := e.UpdateNode(t.Context(), n.UUID, func(n *node.Node) error {
				n.Description = "meanwhile"
				return nil
			}); err != nil {
				return err
			}
		}
		p.Description = fmt.Sprint(runs)
		return nil
	})
	if err != nil || saved.Description != "2" {
		t.Errorf("after %d runs: %+v, %v", runs, saved, err)
	}
}
