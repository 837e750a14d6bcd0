package store_test

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/largesite"
)

// BenchmarkLargeSite is a page of a hundred by every filter, rare values and
// common ones, from the beginning and from the middle, and by the usual sort keys.
func BenchmarkLargeSite(b *testing.B) {
	s := open(b, b.TempDir(), store.Options{NoSync: true})
	if err := largesite.Fill(b.Context(), s); err != nil {
		b.Fatal(err)
	}
	middle := largesite.UUID(largesite.Nodes / 2)
	yes, no, far, none := true, false, "far", ""
	active, available := node.Active, node.Available
	for _, c := range []struct {
		name string
		q    node.Query
	}{
		{"all", node.Query{}},
		{"state=active", node.Query{ProvisionState: &active}},
		{"state=available", node.Query{ProvisionState: &available}},
		{"driver=redfish", node.Query{Equal: map[string]string{"driver": "redfish"}}},
		{"driver=ipmi", node.Query{Equal: map[string]string{"driver": "ipmi"}}},
		{"class=general", node.Query{Equal: map[string]string{"resource_class": "baremetal.general"}}},
		{"class=gpu", node.Query{Equal: map[string]string{"resource_class": "baremetal.gpu"}}},
		{"owner=of-many", node.Query{Equal: map[string]string{"owner": "project-3"}}},
		{"owner=rare", node.Query{Equal: map[string]string{"owner": "project-rare"}}},
		{"lessee=nobody", node.Query{Equal: map[string]string{"lessee": "nobody"}}},
		{"group=none", node.Query{ConductorGroup: &none}},
		{"group=far", node.Query{ConductorGroup: &far}},
		{"instance", node.Query{Equal: map[string]string{"instance_uuid": largesite.Instance(largesite.Nodes - 1)}}},
		{"associated", node.Query{Associated: &yes}},
		{"free", node.Query{Associated: &no}},
		{"maintenance", node.Query{Is: map[string]bool{"maintenance": yes}}},
		{"working", node.Query{Is: map[string]bool{"maintenance": no}}},
		{"fault", node.Query{Equal: map[string]string{"fault": "power failure"}}},
		{"no-such-fault", node.Query{Equal: map[string]string{"fault": "clean failure"}}},
		{"retired", node.Query{Is: map[string]bool{"retired": yes}}},
		{"console", node.Query{Equal: map[string]string{"driver": "redfish"}, ConsoleEnabled: &yes, ConductorGroup: &none}},
		{"shard", node.Query{Shards: []string{"shard-4", "shard-7"}}},
		{"no-such-shard", node.Query{Shards: []string{"shard-99"}}},
		{"unsharded", node.Query{Sharded: &no}},
		{"parent=none-such", node.Query{Equal: map[string]string{"parent_node": largesite.UUID(1)}}},
		{"several", node.Query{Equal: map[string]string{"resource_class": "baremetal.gpu"},
			Is: map[string]bool{"maintenance": yes}, ProvisionState: &available}},
		{"by-name", node.Query{SortKey: "name"}},
		{"by-uuid", node.Query{SortKey: "uuid"}},
		{"by-state", node.Query{SortKey: "provision_state"}},
		{"by-class", node.Query{SortKey: "resource_class"}},
		{"by-created", node.Query{SortKey: "created_at"}},
		{"by-updated", node.Query{SortKey: "updated_at"}},
	} {
		for _, from := range []string{"", middle} {
			q := c.q
			q.Limit, q.Marker = 101, from
			name := c.name
			if from != "" {
				name += ",middle"
			}
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Nodes(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
