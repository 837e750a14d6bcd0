package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// manyNodes is a large site. Of what there is to filter by, some is rare and some
// is what nearly all nodes have.
const manyNodes = 100_000

// manyNode is the node of a number in it.
func manyNode(i int, now time.Time) node.Node {
	n := node.Node{
		UUID: manyUUID(i), Name: fmt.Sprintf("rack%03d-node%06d", i%500, i), Driver: "redfish", CreatedAt: now.Add(time.Duration(i) * time.Millisecond),
		ProvisionState: node.Active, PowerState: node.PowerOn, ResourceClass: "baremetal.general", Owner: "project-" + fmt.Sprint(i%40),
		InstanceUUID: uuid.NewSHA1(uuid.NameSpaceOID, fmt.Append(nil, i)).String(), Shard: "shard-" + fmt.Sprint(i%10),
		DriverInfo: map[string]any{"redfish_address": fmt.Sprintf("https://10.%d.%d.%d", i>>16, i>>8&255, i&255), "redfish_username": "admin", "redfish_password": "x"},
		Properties: map[string]any{"cpus": 64.0, "memory_mb": 524288.0, "local_gb": 3840.0, "cpu_arch": "x86_64", "capabilities": "boot_mode:uefi"},
		Interfaces: map[string]string{
			"bios": "redfish", "boot": "ipxe", "console": "no-console", "deploy": "direct", "firmware": "redfish", "inspect": "agent", "management": "redfish",
			"network": "noop", "power": "redfish", "raid": "redfish", "rescue": "agent", "storage": "noop", "vendor": "redfish",
		},
		Extra: map[string]any{"rack": fmt.Sprint(i % 500), "serial": strings.Repeat("x", 100)},
	}
	if i%1000 == 7 {
		n.Driver, n.ResourceClass, n.Owner, n.ConductorGroup = "ipmi", "baremetal.gpu", "project-rare", "far"
		n.ProvisionState, n.InstanceUUID, n.Shard = node.Available, "", ""
		n.Maintenance, n.Fault, n.Retired = true, "power failure", true
	}
	return n
}

func manyUUID(i int) string { return fmt.Sprintf("6f000000-0000-4000-8000-%012x", i) }

func openMany(b *testing.B) *store.SQLite {
	b.Helper()
	s := open(b, b.TempDir(), store.Options{NoSync: true})
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var wg sync.WaitGroup
	places := make(chan struct{}, 256)
	for i := range manyNodes {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			n := manyNode(i, now)
			if _, err := s.Commit(b.Context(), node.Change{Insert: &n}); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	return s
}

// BenchmarkLargeSite is a page of a hundred by every filter, rare values and
// common ones, from the beginning and from the middle, and by the usual sort keys.
func BenchmarkLargeSite(b *testing.B) {
	s := openMany(b)
	middle := manyUUID(manyNodes / 2)
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
		{"instance", node.Query{InstanceUUID: manyNode(manyNodes-1, time.Time{}).InstanceUUID}},
		{"associated", node.Query{Associated: &yes}},
		{"free", node.Query{Associated: &no}},
		{"maintenance", node.Query{Maintenance: &yes}},
		{"working", node.Query{Maintenance: &no}},
		{"fault", node.Query{Fault: "power failure"}},
		{"no-such-fault", node.Query{Fault: "clean failure"}},
		{"retired", node.Query{Retired: &yes}},
		{"shard", node.Query{Shards: []string{"shard-4", "shard-7"}}},
		{"no-such-shard", node.Query{Shards: []string{"shard-99"}}},
		{"unsharded", node.Query{Sharded: &no}},
		{"parent=none-such", node.Query{ParentNode: manyUUID(1)}},
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
