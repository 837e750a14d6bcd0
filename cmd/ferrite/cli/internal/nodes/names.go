package nodes

import (
	"cmp"
	"context"
	"encoding/json"
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
	ports, err := s.Client.Pages(ctx, "ports", url.Values{"fields": {"uuid,address,node_uuid"}}, 0)
	if err != nil {
		return ofMAC
	}
	names := read(ctx, s)
	for _, raw := range ports {
		var p struct {
			Address string
			Node    string `json:"node_uuid"`
		}
		if json.Unmarshal(raw, &p) == nil {
			ofMAC[p.Address] = names[p.Node]
		}
	}
	return ofMAC
}

// read reads the labels of all nodes, by UUID; those that the caller may see.
func read(ctx context.Context, s *client.Session) map[string]string {
	names := map[string]string{}
	all, err := s.Client.Pages(ctx, "nodes", url.Values{"fields": {"uuid,name"}}, 0)
	if err != nil {
		return names
	}
	for _, raw := range all {
		var n nodeapi.Node
		if json.Unmarshal(raw, &n) == nil {
			names[n.UUID] = n.Label()
		}
	}
	return names
}
