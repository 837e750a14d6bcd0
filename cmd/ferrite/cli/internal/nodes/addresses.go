package nodes

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Address is where a node is on its network, by its first port that it boots from.
type Address struct{ MAC, IP string }

// Addresses returns the addresses of all nodes, by UUID, as far as the caller may see ports and leases.
func Addresses(ctx context.Context, s *client.Session) map[string]Address {
	var reply struct{ Leases []struct{ MAC, IP string } }
	ips := map[string]string{}
	if s.Client.Do(ctx, "GET", nodeapi.FerriteRoot+"/leases", nil, &reply) == nil {
		for _, l := range reply.Leases {
			ips[l.MAC] = l.IP
		}
	}
	all := map[string]Address{}
	ports, err := s.Client.Pages(ctx, "ports", url.Values{"fields": {"uuid,address,node_uuid,pxe_enabled"}}, 0)
	if err != nil {
		return all
	}
	for _, raw := range ports {
		var p struct {
			Address string
			Node    string `json:"node_uuid"`
			Boots   bool   `json:"pxe_enabled"`
		}
		if json.Unmarshal(raw, &p) == nil && (p.Boots || all[p.Node].MAC == "") && all[p.Node].IP == "" {
			all[p.Node] = Address{p.Address, ips[p.Address]}
		}
	}
	return all
}
