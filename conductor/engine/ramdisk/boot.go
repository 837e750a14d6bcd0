package ramdisk

import (
	"context"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// portsAt returns the ports that identify a machine by this address. Ironic accepts a port with an address that no
// interface has, such as 00:00:00:00:00:00. Any machine may claim that, so it identifies none.
func (e *Ramdisks) portsAt(ctx context.Context, address string) ([]node.Port, error) {
	if address = placeholder.MAC(address); address == "" {
		return nil, nil
	}
	return e.Store.Ports(ctx, node.PortQuery{Address: address})
}

// NodeByMAC returns the node that has a port with this address;
// node.ErrNotFound when none has.
func (e *Ramdisks) NodeByMAC(ctx context.Context, mac string) (node.Node, node.Port, error) {
	if mac = placeholder.MAC(mac); mac == "" {
		return node.Node{}, node.Port{}, node.ErrNotFound
	}
	return e.Store.NodeByAddress(ctx, mac)
}

// BootStage notes the progress of the boot of a node's machine. It is kept in memory, so that a flood of boot requests
// writes nothing.
func (e *Ramdisks) BootStage(uuid, name, detail string) {
	e.Memory.Stage(uuid, core.BootStage{Name: name, Detail: nodeapi.MaskText(detail), At: e.Now()}, false)
}

// MediumRefused notes a caller that asked for the boot medium of a node and did not get it: in the log, and once for
// each boot and reason in the history.
func (e *Ramdisks) MediumRefused(ctx context.Context, n node.Node, from netip.Addr, why string) {
	_ = e.turnAway(ctx, n, node.Caller{From: from}, "boot medium", why) // it returns the answer to a ramdisk
}

// Leases lists the addresses the boot service has handed out and reserved.
func (e *Ramdisks) Leases(ctx context.Context) ([]node.Lease, error) { return e.Store.Leases(ctx) }

// SaveLease inserts or replaces the leases of MACs, all or none; a reservation only gives
// way to another one.
func (e *Ramdisks) SaveLease(ctx context.Context, leases ...node.Lease) error {
	return e.Store.SaveLease(ctx, leases...)
}

// EndLease forgets a lease that stands as it was read: neither reserved nor
// renewed since.
func (e *Ramdisks) EndLease(ctx context.Context, l node.Lease) error { return e.Store.EndLease(ctx, l) }

// Declines lists the addresses that machines found in use by others.
func (e *Ramdisks) Declines(ctx context.Context) ([]node.Decline, error) {
	return e.Store.Declines(ctx)
}

// SaveDecline sets an address aside.
func (e *Ramdisks) SaveDecline(ctx context.Context, d node.Decline) error {
	return e.Store.SaveDecline(ctx, d, e.Now())
}

// DeleteLease forgets the lease or reservation of a MAC.
func (e *Ramdisks) DeleteLease(ctx context.Context, mac string) error {
	return e.Store.DeleteLease(ctx, mac)
}
