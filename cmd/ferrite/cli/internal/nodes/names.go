package nodes

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// NameColumns shows the names of nodes: in place of their UUIDs, and in a column node for the MACs of their ports.
// Programs get the UUIDs, and so does a caller without the right to list nodes.
func NameColumns(ctx context.Context, s *client.Session, columns []output.Column) []output.Column {
	all := slices.Clone(columns)
	for i := range all {
		switch c := &all[i]; {
		case !s.People():
		case c.Field == "node_uuid":
			names := read(ctx, s)
			c.Head = "node"
			c.Text = func(item map[string]any) string {
				uuid := output.Cell(item["node_uuid"])
				return cmp.Or(names[uuid], uuid)
			}
		case c.Field == "node" && c.Text == nil:
			names := ofMACs(ctx, s)
			c.Text = func(item map[string]any) string { return names[output.Cell(item["mac"])] }
		}
	}
	return all
}

// ofMACs are the names of nodes by the MACs of their ports; none without the right to list ports.
func ofMACs(ctx context.Context, s *client.Session) map[string]string {
	ofMAC := map[string]string{}
	ports, err := client.Records[struct {
		Address string
		Node    string `json:"node_uuid"`
	}](ctx, s, "ports", url.Values{"fields": {"uuid,address,node_uuid"}})
	if err != nil {
		return ofMAC
	}
	names := read(ctx, s)
	for _, p := range ports {
		ofMAC[p.Address] = names[p.Node]
	}
	return ofMAC
}

// read reads the labels of all nodes, by UUID; those that the caller may see.
func read(ctx context.Context, s *client.Session) map[string]string {
	names := map[string]string{}
	all, err := client.Records[nodeapi.Node](ctx, s, "nodes", url.Values{"fields": {"uuid,name"}})
	if err != nil {
		return names
	}
	for _, n := range all {
		names[n.UUID] = n.Label()
	}
	return names
}

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
	ports, err := client.Records[struct {
		Address string
		Node    string `json:"node_uuid"`
		Boots   bool   `json:"pxe_enabled"`
	}](ctx, s, "ports", url.Values{"fields": {"uuid,address,node_uuid,pxe_enabled"}})
	if err != nil {
		return all
	}
	for _, p := range ports {
		if (p.Boots || all[p.Node].MAC == "") && all[p.Node].IP == "" {
			all[p.Node] = Address{p.Address, ips[p.Address]}
		}
	}
	return all
}
