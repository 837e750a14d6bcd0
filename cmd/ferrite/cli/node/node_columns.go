package node

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nodeColumns are the columns of node list. Six fit 80 characters.
func nodeColumns(ctx context.Context, s *client.Session) []output.Column {
	var addresses map[string]nodes.Address
	if s.Wide() {
		addresses = nodes.Addresses(ctx, s)
	}
	of := func(get func(nodes.Address) string) func(map[string]any) string {
		return func(n map[string]any) string { return get(addresses[output.Cell(n["uuid"])]) }
	}
	return []output.Column{
		{Field: "name", Text: shortLabel(ctx, s)},
		{Field: "provision_state", Head: "state", Text: listState},
		{Field: "power_state", Head: "power", Text: listPower},
		{Field: "resource_class", Head: "class"},
		{Field: "instance_uuid", Head: "instance", Wide: true},
		{Field: "mac", Wide: true, Text: of(func(a nodes.Address) string { return a.MAC })},
		{Field: "ip", Wide: true, Text: of(func(a nodes.Address) string { return a.IP })},
		{Field: "driver", Wide: true},
		{Field: "owner", Wide: true},
		{Field: "lessee", Wide: true},
		{Field: "conductor", Wide: true},
		{Field: "uuid", Wide: true},
		{Field: "problem", Text: problem},
	}
}

// shortLabel is the name of a node, else its UUID. A node of a host in the namespace default has the host's name, which
// commands take as well, unless another node has that name.
func shortLabel(ctx context.Context, s *client.Session) func(map[string]any) string {
	taken := sync.OnceValue(func() map[string]bool {
		names := map[string]bool{}
		all, err := s.Client.Pages(ctx, "nodes", url.Values{"fields": {"name,uuid"}}, 0)
		if err != nil {
			return nil
		}
		for _, raw := range all {
			var n nodeapi.Node
			if json.Unmarshal(raw, &n) != nil {
				return nil
			}
			names[n.Name] = true
		}
		return names
	})
	return func(n map[string]any) string {
		name := cmp.Or(output.Cell(n["name"]), output.Cell(n["uuid"]))
		host, ok := strings.CutPrefix(name, hostapi.NodeName(hostapi.DefaultNamespace, ""))
		if ok && taken() != nil && !taken()[host] {
			return host
		}
		return name
	}
}

// peopleFields are the fields that the columns are made of.
func peopleFields(wide bool) []string {
	fields := []string{"name", "provision_state", "target_provision_state", "power_state", "target_power_state",
		"resource_class", "maintenance", "maintenance_reason", "fault", "last_error"}
	if wide {
		fields = append(fields, "instance_uuid", "driver", "owner", "lessee", "conductor")
	}
	return fields
}

func listState(n map[string]any) string { return output.Cell(n["provision_state"]) }

func listPower(n map[string]any) string {
	on := func(field string) string { return strings.TrimPrefix(output.Cell(n[field]), "power ") }
	return arrow(cmp.Or(on("power_state"), "unknown"), on("target_power_state"))
}

// problemLength is how much of an error a list shows.
const problemLength = 60

// problem is a node's problem in the short form for a list.
func problem(n map[string]any) string {
	state, said := listState(n), output.Cell(n["last_error"])
	var parts []string
	if output.Cell(n["maintenance"]) == "true" {
		why := cmp.Or(output.Cell(n["fault"]), output.Cell(n["maintenance_reason"]))
		parts = append(parts, strings.TrimSuffix("maintenance: "+why, ": "))
	}
	if said != "" && (strings.HasSuffix(state, " failed") || state == "error" || state == "enroll") {
		said, _, _ = strings.Cut(said, "\n")
		if letters := []rune(said); len(letters) > problemLength {
			said = string(letters[:problemLength]) + "..."
		}
		parts = append(parts, said)
	}
	return strings.Join(parts, "; ")
}
