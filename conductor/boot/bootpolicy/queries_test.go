package bootpolicy_test

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/pxe"
)

// countedStore counts the reads of ports and nodes.
type countedStore struct {
	*mem.Store
	reads atomic.Int64
}

func (s *countedStore) NodeByAddress(ctx context.Context, address string) (node.Node, node.Port, error) {
	s.reads.Add(1)
	return s.Store.NodeByAddress(ctx, address)
}

func (s *countedStore) Node(ctx context.Context, ref string) (node.Node, error) {
	s.reads.Add(1)
	return s.Store.Node(ctx, ref)
}

// TestReadsOfABoot: a machine that asks DHCP twice is looked for once, with both boot stages; for its script and its
// files it is looked for anew.
func TestReadsOfABoot(t *testing.T) {
	s := &countedStore{Store: mem.New()}
	n := node.Node{UUID: "11111111-2222-4333-8444-555555555555", Driver: "redfish", ProvisionState: node.Active}
	port := node.Port{UUID: "21111111-2222-4333-8444-555555555555", NodeUUID: n.UUID, Address: mac, PXEEnabled: true}
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n, AddPorts: []node.Port{port}}); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	p := &bootpolicy.Policy{Engine: engine.New(engine.Config{Store: s, Log: log}), Log: log}
	hw, err := net.ParseMAC(mac)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(c pxe.Client, stage pxe.Stage) {
		t.Helper()
		c.MAC, c.Firmware = hw, pxe.UEFI
		if b, err := p.Boot(t.Context(), c); err != nil || b.Action != pxe.Address {
			t.Fatalf("%+v, %v", b, err)
		}
		p.Reached(t.Context(), c, stage)
	}
	ask(pxe.Client{}, pxe.StageOffer)
	ask(pxe.Client{}, pxe.StageAck)
	if got := s.reads.Load(); got != 1 {
		t.Errorf("DISCOVER and REQUEST cost %d reads, expected one", got)
	}
	ask(pxe.Client{Files: true}, pxe.StageKernel)
	if got := s.reads.Load(); got != 2 {
		t.Errorf("with a file it is %d reads, expected 2", got)
	}
}
