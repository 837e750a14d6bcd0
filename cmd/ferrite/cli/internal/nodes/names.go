package nodes

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// NameColumns shows names in place of nodes' UUIDs. Programs get the UUIDs, and so does a caller without the right to
// list nodes.
func NameColumns(ctx context.Context, s *client.Session, columns []output.Column) []output.Column {
	all := make([]output.Column, len(columns))
	copy(all, columns)
	for i, c := range all {
		if c.Field == "node_uuid" && s.People() {
			names := read(ctx, s)
			all[i].Head = "node"
			all[i].Text = func(item map[string]any) string {
				uuid := output.Cell(item["node_uuid"])
				if name := names[uuid]; name != "" {
					return name
				}
				return uuid
			}
		}
	}
	return all
}

// OfMACColumn is the column of the nodes that MACs belong to.
func OfMACColumn(ctx context.Context, s *client.Session) output.Column {
	c := output.Column{Field: "node"}
	if !s.People() {
		return c
	}
	ports, err := s.Client.Pages(ctx, "ports", url.Values{"fields": {"uuid,address,node_uuid"}}, 0)
	if err != nil {
		return c // no right to see them; a column without texts is left out
	}
	names, ofMAC := read(ctx, s), map[string]string{}
	for _, raw := range ports {
		var p struct {
			Address string
			Node    string `json:"node_uuid"`
		}
		if json.Unmarshal(raw, &p) == nil {
			ofMAC[p.Address] = names[p.Node]
		}
	}
	c.Text = func(item map[string]any) string { return ofMAC[output.Cell(item["mac"])] }
	return c
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
