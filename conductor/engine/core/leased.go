package core

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Leased lists the addresses that the ports of a node have from our DHCP now.
func (e *Core) Leased(ctx context.Context, uuid string) ([]string, error) {
	ports, err := e.Store.Ports(ctx, node.PortQuery{NodeUUID: uuid})
	if err != nil {
		return nil, fmt.Errorf("ports of node %s: %w", uuid, err)
	}
	leases, err := e.Store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, l := range leases {
		if !l.Static && !l.Expires.After(e.Now()) {
			continue
		}
		if slices.ContainsFunc(ports, func(p node.Port) bool { return strings.EqualFold(p.Address, l.MAC) }) {
			all = append(all, l.IP)
		}
	}
	return all, nil
}
