package storetest

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func testInsert(t *testing.T, s store.Store) {
	n := sample(1)
	yes := true
	later := at(9).Add(123456789 * time.Nanosecond)
	n.Name, n.Description, n.SecureBoot, n.UpdatedAt = "n1", "it's a \"test\" ✓", &yes, &later
	n.DriverInfo = map[string]any{"redfish_address": "https://bmc", "port": 443.0,
		"nested": map[string]any{"list": []any{"a", nil, true}}}
	n.Run = &node.Run{Activity: "clean", Steps: []node.Step{{Interface: "power", Step: "power_off",
		Args: map[string]any{"x": "y"}}}, Index: 1, Since: at(3)}
	n.Agent = node.Agent{Token: "secret"}
	n.Traits = []string{"CUSTOM_A"}
	saved := insert(t, s, n)
	n.Revision = 1
	equal(t, n, saved)
	for _, ref := range []string{n.UUID, "n1"} {
		got, err := s.Node(t.Context(), ref)
		check(t, err)
		equal(t, n, got)
	}
	for _, ref := range []string{uuid(2), "n2", ""} {
		_, err := s.Node(t.Context(), ref)
		wants(t, err, node.ErrNotFound)
	}
}

func testSave(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1))
	n.ProvisionState, n.Extra = node.Verifying, map[string]any{"k": "v"}
	saved, err := s.Commit(t.Context(), node.Change{Save: &n})
	check(t, err)
	if saved.Revision != 2 || n.Revision != 1 {
		t.Errorf("saved revision %d, want 2; the caller's became %d, want 1", saved.Revision, n.Revision)
	}
	got, err := s.Node(t.Context(), n.UUID)
	check(t, err)
	equal(t, saved, got)

	_, err = s.Commit(t.Context(), node.Change{Save: &n})
	wants(t, err, node.ErrStale)
	other := sample(2)
	_, err = s.Commit(t.Context(), node.Change{Save: &other})
	wants(t, err, node.ErrNotFound)
	got, err = s.Node(t.Context(), n.UUID)
	check(t, err)
	equal(t, saved, got)
}

func testUnique(t *testing.T, s store.Store) {
	a, b := sample(1), sample(2)
	a.Name, a.InstanceUUID = "n1", uuid(100)
	insert(t, s, a)
	insert(t, s, b)
	insert(t, s, sample(3)) // two without a name or an instance are no conflict
	for _, c := range []struct {
		name, want string
		edit       func(n *node.Node)
	}{
		{"name", "A node with name n1 already exists.", func(n *node.Node) { n.Name = "n1" }},
		{"instance", "Instance " + uuid(100) + " is already associated with a node, " +
			"it cannot be associated with this other node ",
			func(n *node.Node) { n.InstanceUUID = uuid(100) }},
		{"uuid", "A node with UUID " + uuid(1) + " already exists.", func(n *node.Node) { n.UUID = uuid(1) }},
	} {
		n := sample(4)
		c.edit(&n)
		_, err := s.Commit(t.Context(), node.Change{Insert: &n})
		wants(t, err, node.ErrConflict)
		if err != nil && len(err.Error()) < len(c.want) || err.Error()[:len(c.want)] != c.want {
			t.Errorf("%s: got %q, want %q", c.name, err, c.want)
		}
	}
	b.Name, b.Revision = "n1", 1
	_, err := s.Commit(t.Context(), node.Change{Save: &b})
	wants(t, err, node.ErrConflict)
	all, err := s.Nodes(t.Context(), node.Query{})
	check(t, err)
	equal(t, []string{uuid(1), uuid(2), uuid(3)}, uuids(all))
}

// testAtomic lets the last part of a full change fail and looks for traces.
func testAtomic(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1), effect(1, "first", at(0)))
	check(t, add(t, s, port(1, 1)))
	held, err := Claim(t.Context(), s, "me", at(1), time.Minute, 1)
	check(t, err)
	n.Name = "renamed"
	_, err = s.Commit(t.Context(), node.Change{
		Finish: &held[0], Save: &n,
		AddPorts: []node.Port{port(2, 1)}, DropPorts: []string{port(1, 1).UUID},
		Inspected:      &node.Inspected{Inventory: []byte(`{}`)},
		HardwareReport: &node.HardwareReport{Firmware: []node.FirmwareComponent{{Component: "bmc"}}},
		Effects:        []node.Effect{effect(1, "second", at(2))},
		History:        []node.HistoryEntry{{UUID: uuid(50), NodeUUID: n.UUID}, {UUID: uuid(51), NodeUUID: uuid(99)}},
	})
	wants(t, err, node.ErrNotFound)

	got, err := s.Node(t.Context(), n.UUID)
	check(t, err)
	equal(t, "", got.Name)
	pending, err := s.PendingEffect(t.Context(), n.UUID)
	check(t, err)
	equal(t, &held[0], pending)
	ports, err := s.Ports(t.Context(), node.PortQuery{})
	check(t, err)
	equal(t, []node.Port{port(1, 1)}, ports)
	history, err := s.History(t.Context(), n.UUID)
	check(t, err)
	equal(t, 0, len(history))
	_, err = s.Inspected(t.Context(), n.UUID)
	wants(t, err, node.ErrNotFound)
	report, err := s.HardwareReport(t.Context(), n.UUID)
	check(t, err)
	equal(t, node.HardwareReport{}, report)
}

func testAmbiguous(t *testing.T, s store.Store) {
	n, m := insert(t, s, sample(1)), sample(2)
	for _, c := range []node.Change{
		{Insert: &m, Save: &n},
		{Insert: &m, Delete: n.UUID},
		{Save: &n, Delete: n.UUID},
		{Inspected: &node.Inspected{}},
		{Inspected: &node.Inspected{}, Delete: n.UUID},
		{HardwareReport: &node.HardwareReport{}},
	} {
		if _, err := s.Commit(t.Context(), c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	saved, err := s.Commit(t.Context(), node.Change{})
	check(t, err)
	equal(t, node.Node{}, saved)
}

func testDelete(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1), effect(1, "wait", at(0)))
	n, err := s.Commit(t.Context(), node.Change{
		Save: &n, Inspected: &node.Inspected{Inventory: []byte(`{"a":1}`)},
		HardwareReport: &node.HardwareReport{BIOS: []node.BIOSSetting{{Name: "A"}}},
		AddPorts:       []node.Port{port(1, 1)}, History: []node.HistoryEntry{{NodeUUID: n.UUID}},
	})
	check(t, err)
	_, err = s.Commit(t.Context(), node.Change{Delete: n.UUID, DeleteAt: n.Revision - 1}) // read before it was saved
	wants(t, err, node.ErrStale)
	_, err = s.Commit(t.Context(), node.Change{Delete: n.UUID, DeleteAt: n.Revision})
	check(t, err)
	_, err = s.Node(t.Context(), n.UUID)
	wants(t, err, node.ErrNotFound)
	_, err = s.Port(t.Context(), port(1, 1).UUID)
	wants(t, err, node.ErrNotFound)
	_, err = s.Inspected(t.Context(), n.UUID)
	wants(t, err, node.ErrNotFound)
	report, err := s.HardwareReport(t.Context(), n.UUID)
	check(t, err)
	equal(t, node.HardwareReport{}, report)
	history, err := s.History(t.Context(), n.UUID)
	check(t, err)
	equal(t, 0, len(history))
	pending, err := s.PendingEffect(t.Context(), n.UUID)
	check(t, err)
	equal(t, (*node.Effect)(nil), pending)
	_, err = s.Commit(t.Context(), node.Change{Delete: n.UUID})
	wants(t, err, node.ErrNotFound)

	again := sample(1) // enrolled again, and at the same revision as n
	again.CreatedAt = n.CreatedAt.Add(time.Millisecond)
	again = insert(t, s, again)
	n.Revision = again.Revision
	_, err = s.Commit(t.Context(), node.Change{Save: &n})
	wants(t, err, node.ErrStale)
	n.Name = "changed" // a change of rarely written columns, too
	_, err = s.Commit(t.Context(), node.Change{Save: &n})
	wants(t, err, node.ErrStale)
}

func testCopy(t *testing.T, s store.Store) {
	n := sample(1)
	n.Extra = map[string]any{"k": "kept"}
	insert(t, s, n)
	n.Extra["k"] = "changed by the caller"
	got, err := s.Node(t.Context(), n.UUID)
	check(t, err)
	equal(t, "kept", got.Extra["k"])
	got.Extra["k"] = "changed by the reader"
	got, err = s.Node(t.Context(), n.UUID)
	check(t, err)
	equal(t, "kept", got.Extra["k"])
}

func testDeadlines(t *testing.T, s store.Store) {
	_, ok, err := s.NextDeadline(t.Context())
	check(t, err)
	equal(t, false, ok)
	insert(t, s, sample(9))
	for i, sec := range []int{30, 10, 20, 10} {
		n := sample(i)
		n.Deadline = at(sec)
		insert(t, s, n)
	}
	next, ok, err := s.NextDeadline(t.Context())
	check(t, err)
	equal(t, true, ok)
	equal(t, at(10), next)
	for _, c := range []struct {
		now   time.Time
		limit int
		want  []string
	}{
		{at(10).Add(-time.Microsecond), 9, nil},
		{at(10), 9, []string{uuid(1), uuid(3)}},
		{at(40), 9, []string{uuid(1), uuid(3), uuid(2), uuid(0)}},
		{at(40), 1, []string{uuid(1)}},
		{at(40), 0, nil},
	} {
		got, err := s.Expired(t.Context(), c.now, c.limit)
		check(t, err)
		equal(t, c.want, got)
	}
}

func testHistory(t *testing.T, s store.Store) {
	insert(t, s, sample(1))
	insert(t, s, sample(2))
	for i := range store.HistoryKept + 3 {
		_, err := s.Commit(t.Context(), node.Change{History: []node.HistoryEntry{
			{UUID: uuid(0), NodeUUID: uuid(1), CreatedAt: at(i), Severity: "INFO", Event: "e"},
		}})
		check(t, err)
	}
	got, err := s.History(t.Context(), uuid(1))
	check(t, err)
	equal(t, store.HistoryKept, len(got))
	equal(t, at(3), got[0].CreatedAt)
	equal(t, at(store.HistoryKept+2), got[len(got)-1].CreatedAt)
	other, err := s.History(t.Context(), uuid(2))
	check(t, err)
	equal(t, 0, len(other))
}

func testInspected(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1))
	_, err := s.Inspected(t.Context(), n.UUID)
	wants(t, err, node.ErrNotFound)
	for _, want := range []node.Inspected{
		{Inventory: []byte(`{"cpu":1}`), PluginData: []byte(`{"p":[1]}`)},
		{Inventory: []byte(`{"cpu":2}`)},
	} {
		n, err = s.Commit(t.Context(), node.Change{Save: &n, Inspected: &want})
		check(t, err)
		got, err := s.Inspected(t.Context(), n.UUID)
		check(t, err)
		equal(t, want, got)
	}
}

func testHardwareReport(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1))
	got, err := s.HardwareReport(t.Context(), n.UUID)
	check(t, err)
	equal(t, node.HardwareReport{}, got)
	for _, want := range []node.HardwareReport{
		{BIOS: []node.BIOSSetting{{Name: "A", Value: ptr("1"), UpperBound: ptr(int64(5)), ReadOnly: ptr(false),
			CreatedAt: at(1)}}},
		{BIOS: []node.BIOSSetting{}, Firmware: []node.FirmwareComponent{{Component: "bmc", CurrentVersion: "2",
			CreatedAt: at(1), UpdatedAt: at(2)}}},
	} {
		n, err = s.Commit(t.Context(), node.Change{Save: &n, HardwareReport: &want})
		check(t, err)
		got, err := s.HardwareReport(t.Context(), n.UUID)
		check(t, err)
		equal(t, want, got)
	}
}
