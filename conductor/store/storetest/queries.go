package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func ptr[T any](v T) *T { return &v }

// filterEdits makes nodes that differ from the default in one thing for each filter; the first is the default, and the
// second a child of it.
var filterEdits = []func(n *node.Node){
	func(*node.Node) {},
	func(n *node.Node) { n.ParentNode = uuid(0) },
	func(n *node.Node) { n.Driver = "redfish" },
	func(n *node.Node) { n.ProvisionState = node.Active },
	func(n *node.Node) { n.ResourceClass = "gold" },
	func(n *node.Node) { n.ConductorGroup = "g" },
	func(n *node.Node) { n.InstanceUUID = uuid(77) },
	func(n *node.Node) { n.Owner = "o" },
	func(n *node.Node) { n.Lessee = "l" },
	func(n *node.Node) { n.Fault = "power failure" },
	func(n *node.Node) { n.Maintenance = true },
	func(n *node.Node) { n.Retired = true },
	func(n *node.Node) { n.Shard = "s1" },
	func(n *node.Node) { n.Shard = "s2" },
	func(n *node.Node) { n.ChassisUUID = uuid(78) },
	func(n *node.Node) { n.Description = "Größte 50% Maschine" },
	func(n *node.Node) { n.InstanceName = "web-1" },
	func(n *node.Node) { n.ConsoleEnabled = true },
}

// testFilters has the nodes of filterEdits, and a filter for each.
func testFilters(t *testing.T, s store.Store) {
	_, err := s.Catalogs().Chassis.Insert(t.Context(), node.Chassis{Record: record(78)})
	check(t, err)
	var all []string
	for i, edit := range filterEdits {
		n := sample(i)
		edit(&n)
		insert(t, s, n)
		all = append(all, n.UUID)
	}
	only := func(ns ...int) []string {
		var want []string
		for _, n := range ns {
			want = append(want, uuid(n))
		}
		return want
	}
	but := func(ns ...int) []string {
		return slices.DeleteFunc(slices.Clone(all), func(u string) bool { return slices.Contains(only(append(ns, 1)...), u) })
	}
	for name, c := range map[string]struct {
		q    node.Query
		want []string
	}{
		"nothing":            {node.Query{}, but()},
		"with children":      {node.Query{WithChildren: true}, all},
		"parent":             {node.Query{Equal: map[string]string{"parent_node": uuid(0)}}, only(1)},
		"uuids":              {node.Query{UUIDs: only(3, 1, 99)}, only(1, 3)},
		"driver":             {node.Query{Equal: map[string]string{"driver": "redfish"}}, only(2)},
		"state":              {node.Query{ProvisionState: ptr(node.Active)}, only(3)},
		"no such state":      {node.Query{ProvisionState: ptr(node.State(""))}, nil},
		"class":              {node.Query{Equal: map[string]string{"resource_class": "gold"}}, only(4)},
		"group":              {node.Query{ConductorGroup: ptr("g")}, only(5)},
		"the empty group":    {node.Query{ConductorGroup: ptr("")}, but(5)},
		"instance":           {node.Query{Equal: map[string]string{"instance_uuid": uuid(77)}}, only(6)},
		"associated":         {node.Query{Associated: ptr(true)}, only(6)},
		"not associated":     {node.Query{Associated: ptr(false)}, but(6)},
		"instance name":      {node.Query{Equal: map[string]string{"instance_name": "web-1"}}, only(16)},
		"project, owned":     {node.Query{Project: "o"}, only(7)},
		"project, leased":    {node.Query{Project: "l"}, only(8)},
		"no such project":    {node.Query{Project: "p"}, nil},
		"owner":              {node.Query{Equal: map[string]string{"owner": "o"}}, only(7)},
		"lessee":             {node.Query{Equal: map[string]string{"lessee": "l"}}, only(8)},
		"fault":              {node.Query{Equal: map[string]string{"fault": "power failure"}}, only(9)},
		"maintenance":        {node.Query{Is: map[string]bool{"maintenance": true}}, only(10)},
		"no maintenance":     {node.Query{Is: map[string]bool{"maintenance": false}}, but(10)},
		"retired":            {node.Query{Is: map[string]bool{"retired": true}}, only(11)},
		"not retired":        {node.Query{Is: map[string]bool{"retired": false}}, but(11)},
		"console":            {node.Query{ConsoleEnabled: ptr(true)}, only(17)},
		"no console":         {node.Query{ConsoleEnabled: ptr(false)}, but(17)},
		"shards":             {node.Query{Shards: []string{"s1", "s2", "s3"}}, only(12, 13)},
		"sharded":            {node.Query{Sharded: ptr(true)}, only(12, 13)},
		"not sharded":        {node.Query{Sharded: ptr(false)}, but(12, 13)},
		"chassis":            {node.Query{Equal: map[string]string{"chassis_uuid": uuid(78)}}, only(14)},
		"description":        {node.Query{Contains: "GRÖSSTE"}, nil}, // ß is not SS
		"whatever the case":  {node.Query{Contains: "größTE 50%"}, only(15)},
		"percent is literal": {node.Query{Contains: "g%e"}, nil},
		"two filters":        {node.Query{Equal: map[string]string{"driver": "redfish", "resource_class": "gold"}}, nil},
	} {
		got, err := s.Nodes(t.Context(), c.q)
		check(t, err)
		if !slices.Equal(c.want, uuids(got)) {
			t.Errorf("%s: got %v, want %v", name, uuids(got), c.want)
		}
		listed, err := s.NodeUUIDs(t.Context(), c.q)
		check(t, err)
		if !slices.Equal(c.want, listed) {
			t.Errorf("%s: the UUIDs %v, want %v", name, listed, c.want)
		}
	}
}

// SortKeys are all keys nodes can be sorted by.
var SortKeys = func() []string {
	keys := []string{"", "id"}
	for _, f := range node.Fields {
		switch f.Kind {
		case node.ComputedField, node.ListField, node.ObjectField:
		default:
			keys = append(keys, f.Name)
		}
	}
	return keys
}()

func testPages(t *testing.T, s store.Store) {
	for i, c := range []struct{ name, class string }{{"e", ""}, {"d", "b"}, {"", "a"}, {"b", "b"}, {"a", ""}} {
		n := sample(i)
		n.Name, n.ResourceClass = c.name, c.class
		n.AutomatedClean = []*bool{ptr(true), nil, ptr(false), nil, nil}[i]
		n.Interfaces = map[string]string{"power": string(rune('z' - i))}
		n.UpdatedAt = ptr(at(30 - i).Add(time.Duration(i*100) * time.Millisecond))
		insert(t, s, n)
	}
	for _, c := range []struct {
		key  string
		desc bool
		want []int
	}{
		{"", false, []int{0, 1, 2, 3, 4}},
		{"", true, []int{4, 3, 2, 1, 0}},
		{"name", false, []int{2, 4, 3, 1, 0}},
		{"resource_class", false, []int{0, 4, 2, 1, 3}},
		{"resource_class", true, []int{3, 1, 2, 4, 0}},
		{"automated_clean", false, []int{1, 3, 4, 2, 0}},
		{"power_interface", false, []int{4, 3, 2, 1, 0}},
		{"updated_at", false, []int{4, 3, 2, 1, 0}},
	} {
		var want []string
		for _, n := range c.want {
			want = append(want, uuid(n))
		}
		all, err := s.Nodes(t.Context(), node.Query{SortKey: c.key, Desc: c.desc})
		check(t, err)
		equal(t, want, uuids(all))
		equal(t, want, paged(t, s, node.Query{SortKey: c.key, Desc: c.desc, Limit: 2}))
	}
	for _, key := range SortKeys {
		equal(t, 5, len(paged(t, s, node.Query{SortKey: key, Limit: 2})))
	}
	_, err := s.Nodes(t.Context(), node.Query{Marker: uuid(9)})
	wants(t, err, node.ErrNotFound)
	_, err = s.Nodes(t.Context(), node.Query{SortKey: "properties"})
	var r *node.Refusal
	if !errors.As(err, &r) || r.Kind != node.Invalid {
		t.Errorf("sorting by properties: got %v, want an Invalid refusal", err)
	}
}

// paged reads page after page.
func paged(t *testing.T, s store.Store, q node.Query) []string {
	t.Helper()
	var all []string
	for len(all) < 100 {
		page, err := s.Nodes(t.Context(), q)
		check(t, err)
		if len(page) == 0 {
			break
		}
		all = append(all, uuids(page)...)
		q.Marker = page[len(page)-1].UUID
	}
	return all
}

// testShards counts children too, which lists leave out.
func testShards(t *testing.T, s store.Store) {
	none, err := s.Shards(t.Context())
	check(t, err)
	equal(t, 0, len(none))
	for i, shard := range []string{"s2", "", "s1", "s2"} {
		n := sample(i)
		n.Shard = shard
		if i == 3 {
			n.ParentNode = uuid(0)
		}
		insert(t, s, n)
	}
	got, err := s.Shards(t.Context())
	check(t, err)
	equal(t, []node.Shard{{Name: "", Count: 1}, {Name: "s1", Count: 1}, {Name: "s2", Count: 2}}, got)
}
