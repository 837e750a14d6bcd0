package ramdisk

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// hasBMC reports whether a node is configured with the BMC of an inventory.
func hasBMC(n node.Node, inv agentapi.Inventory) bool {
	found := reportedAddresses(inv)
	return slices.ContainsFunc(n.BMCHosts(), func(host string) bool {
		a, err := netip.ParseAddr(host)
		return err == nil && slices.Contains(found, a)
	})
}

// NodesAt returns the nodes with a BMC at this host, a name or an address. One host may have several machines behind
// it.
func (e *Ramdisks) NodesAt(ctx context.Context, host string) (all []node.Node, err error) {
	if err := e.machines.fill(ctx, e.Store); err != nil {
		return nil, err
	}
	return e.nodesOf(ctx, e.machines.at(node.PlainHost(host)))
}

// nodesOfSystem returns the nodes with this machine UUID. It skips nodes that cannot be read: a damaged row must not
// keep all other nodes from being verified.
func (e *Ramdisks) nodesOfSystem(ctx context.Context, uuid string) ([]node.Node, error) {
	err := e.machines.fill(ctx, e.Store)
	if unreadable := (*node.UnreadableError)(nil); errors.As(err, &unreadable) {
		e.Log.Warn("nodes with the same machine are not looked for, since some nodes cannot be read", "err", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return e.nodesOf(ctx, e.machines.of(uuid))
}

// nodesOf reads nodes, and skips nodes that were just deleted.
func (e *Ramdisks) nodesOf(ctx context.Context, uuids []string) (all []node.Node, err error) {
	for _, uuid := range uuids {
		n, err := e.Store.Node(ctx, uuid)
		if errors.Is(err, node.ErrNotFound) { // deleted just now
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// reportedAddresses are the BMC's as the ramdisk found them, as far as they are addresses.
func reportedAddresses(inv agentapi.Inventory) []netip.Addr {
	var all []netip.Addr
	for _, found := range []string{inv.BMCAddress, inv.BMCv6Address} {
		bare, _, _ := strings.Cut(found, "/")
		if a, err := netip.ParseAddr(bare); err == nil && !a.IsUnspecified() {
			all = append(all, a)
		}
	}
	return all
}
