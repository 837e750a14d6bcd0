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
		{"driver=redfish", node.Query{Driver: "redfish"}},
		{"driver=ipmi", node.Query{Driver: "ipmi"}},
		{"class=general", node.Query{ResourceClass: "baremetal.general"}},
		{"class=gpu", node.Query{ResourceClass: "baremetal.gpu"}},
		{"owner=of-many", node.Query{Owner: "project-3"}},
		{"owner=rare", node.Query{Owner: "project-rare"}},
		{"lessee=nobody", node.Query{Lessee: "nobody"}},
		{"group=none", node.Query{ConductorGroup: &none}},
		{"group=far", node.Query{ConductorGroup: &far}},
		{"instance", node.Query{InstanceUUID: largesite.Instance(largesite.Nodes - 1)}},
		{"associated", node.Query{Associated: &yes}},
		{"free", node.Query{Associated: &no}},
		{"maintenance", node.Query{Maintenance: &yes}},
		{"working", node.Query{Maintenance: &no}},
		{"fault", node.Query{Fault: "power failure"}},
		{"no-such-fault", node.Query{Fault: "clean failure"}},
		{"retired", node.Query{Retired: &yes}},
		{"console", node.Query{ConsoleEnabled: &yes, Driver: "redfish", ConductorGroup: &none}},
		{"shard", node.Query{Shards: []string{"shard-4", "shard-7"}}},
		{"no-such-shard", node.Query{Shards: []string{"shard-99"}}},
		{"unsharded", node.Query{Sharded: &no}},
		{"parent=none-such", node.Query{ParentNode: largesite.UUID(1)}},
		{"several", node.Query{ProvisionState: &available, ResourceClass: "baremetal.gpu", Maintenance: &yes}},
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
