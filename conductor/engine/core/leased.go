package core

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Leased lists the addresses that the ports of a node have from our DHCP now.
func (e *Core) Leased(ctx context.Context, uuid string) ([]string, error) {
	ports, err := e.Store.Ports(ctx, node.PortQuery{NodeUUID: uuid})
	if err != nil {
		return nil, fmt.Errorf("ports of node %s: %w", uuid, err)
	}
	var macs, all []string
	for _, p := range ports {
		macs = append(macs, strings.ToLower(p.Address))
	}
	leases, err := e.Store.LeasesOf(ctx, macs, "")
	if err != nil {
		return nil, err
	}
	for _, l := range leases {
		if l.Static || l.Expires.After(e.Now()) {
			all = append(all, l.IP)
		}
	}
	return all, nil
}
