package storetest

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// group is the n-th portgroup, of node 99.
func group(n int, name string) node.Portgroup {
	return node.Portgroup{
		Record: record(n), NodeUUID: uuid(99), Name: name, Address: "52:54:00:00:01:" + uuid(n)[34:], Mode: node.DefaultMode,
		StandalonePorts: true,
		PhysicalNetwork: "p1", Category: "c", Properties: map[string]any{"p": 1.0}, Extra: map[string]any{"k": "v"},
		InternalInfo: map[string]any{"i": true},
	}
}

func testPortgroups(t *testing.T, s store.Store) {
	insert(t, s, sample(99))
	testCatalog(t, s.Catalogs().Portgroups, sampler[node.Portgroup]{
		group, func(v *node.Portgroup) { v.Mode = "802.3ad" }, func(v *node.Portgroup, name string) { v.Name = name },
	}, "A portgroup with name CUSTOM_A already exists.", "Portgroup nobody could not be found.")
}

// testPortgroupsGo has nameless portgroups, with an address and without.
func testPortgroupsGo(t *testing.T, s store.Store) {
	groups := s.Catalogs().Portgroups
	_, err := groups.Insert(t.Context(), group(1, ""))
	wants(t, err, node.ErrNotFound)
	equal(t, "Node "+uuid(99)+" could not be found.", err.Error())

	insert(t, s, sample(99))
	for n := range 3 {
		g := group(n, "")
		if n > 0 {
			g.Address = ""
		}
		_, err := groups.Insert(t.Context(), g)
		check(t, err)
	}
	twice := group(3, "")
	twice.Address = group(0, "").Address
	_, err = groups.Insert(t.Context(), twice)
	wants(t, err, node.ErrConflict)
	equal(t, "A portgroup with MAC address "+twice.Address+" already exists.", err.Error())
	of, err := groups.List(t.Context(), "node_uuid", uuid(99), uuid(98))
	check(t, err)
	equal(t, 3, len(of))

	p := port(1, 99)
	p.PortgroupUUID = uuid(0)
	check(t, add(t, s, p))
	_, err = s.Commit(t.Context(), node.Change{Delete: uuid(99)})
	check(t, err)
	left, err := groups.List(t.Context(), "")
	check(t, err)
	equal(t, 0, len(left))
}

// testPortgroupMoves saves a node, a portgroup and its port: all, or none.
func testPortgroupMoves(t *testing.T, s store.Store) {
	n := insert(t, s, sample(99))
	g, err := s.Catalogs().Portgroups.Insert(t.Context(), group(1, "a"))
	check(t, err)
	_, err = s.Catalogs().Portgroups.Insert(t.Context(), group(2, "b"))
	check(t, err)
	p := port(1, 99)
	p.PortgroupUUID, p.PhysicalNetwork = g.UUID, "p1"
	check(t, add(t, s, p))
	n, err = s.Node(t.Context(), n.UUID)
	check(t, err)
	stands := func(wantGroup node.Portgroup, wantPort string, wantNode int64) {
		t.Helper()
		got, err := s.Catalogs().Portgroups.Find(t.Context(), g.UUID)
		check(t, err)
		equal(t, wantGroup, got)
		of, err := s.Port(t.Context(), p.UUID)
		check(t, err)
		equal(t, wantPort, of.PhysicalNetwork)
		now, err := s.Node(t.Context(), n.UUID)
		check(t, err)
		equal(t, wantNode, now.Revision)
	}
	moved, stale, nobody, taken, old := g, g, g, g, n
	moved.PhysicalNetwork, stale.Revision, nobody.UUID, taken.Name, old.Revision = "p2", 7, uuid(77), "b", 77
	port := p
	port.PhysicalNetwork = "p2"
	for _, c := range []struct {
		change node.Change
		want   error
	}{
		{node.Change{Save: &n, SavePortgroups: []node.Portgroup{stale}, SavePorts: []node.Port{port}}, node.ErrStale},
		{node.Change{Save: &n, SavePortgroups: []node.Portgroup{nobody}, SavePorts: []node.Port{port}}, node.ErrNotFound},
		{node.Change{Save: &n, SavePortgroups: []node.Portgroup{taken}, SavePorts: []node.Port{port}}, node.ErrConflict},
		{node.Change{Save: &old, SavePortgroups: []node.Portgroup{moved}, SavePorts: []node.Port{port}}, node.ErrStale},
		{node.Change{Save: &n, SavePortgroups: []node.Portgroup{moved}, SavePorts: []node.Port{port},
			History: []node.HistoryEntry{{NodeUUID: uuid(98)}}}, node.ErrNotFound},
	} {
		_, err := s.Commit(t.Context(), c.change)
		wants(t, err, c.want)
		stands(g, "p1", n.Revision)
	}
	_, err = s.Commit(t.Context(), node.Change{Save: &n, SavePortgroups: []node.Portgroup{moved},
		SavePorts: []node.Port{port}})
	check(t, err)
	moved.Revision++
	stands(moved, "p2", n.Revision+1)
}

// testHolders: a chassis that a node names, a portgroup that a port names.
func testHolders(t *testing.T, s store.Store) {
	ctx, chassis, groups := t.Context(), s.Catalogs().Chassis, s.Catalogs().Portgroups
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	n, p := sample(99), port(1, 99)
	n.ChassisUUID, p.PortgroupUUID = uuid(1), uuid(2)
	_, err := s.Commit(ctx, node.Change{Insert: &n})
	refused(err, "Chassis "+uuid(1)+" could not be found.")
	_, err = chassis.Insert(ctx, node.Chassis{Record: record(1), Description: "rack", Extra: map[string]any{"k": "v"}})
	check(t, err)
	n = insert(t, s, n)
	refused(chassis.Delete(ctx, uuid(1)),
		"Cannot complete the requested action because chassis "+uuid(1)+" contains nodes.")
	moved := n
	moved.ChassisUUID = uuid(3)
	_, err = s.Commit(ctx, node.Change{Save: &moved})
	refused(err, "Chassis "+uuid(3)+" could not be found.")

	refused(add(t, s, p), "Portgroup "+uuid(2)+" could not be found.")
	_, err = groups.Insert(ctx, group(2, ""))
	check(t, err)
	check(t, add(t, s, p))
	of, err := s.Ports(ctx, node.PortQuery{PortgroupUUID: uuid(2)})
	check(t, err)
	equal(t, []node.Port{p}, of)
	refused(groups.Delete(ctx, uuid(2)),
		"Cannot complete the requested action because portgroup "+uuid(2)+" contains ports.")
	p.PortgroupUUID = ""
	check(t, save(t, s, p))
	check(t, groups.Delete(ctx, uuid(2)))

	n.ChassisUUID = ""
	_, err = s.Commit(ctx, node.Change{Save: &n})
	check(t, err)
	check(t, chassis.Delete(ctx, uuid(1)))
	_, err = chassis.Find(ctx, "")
	wants(t, err, node.ErrNotFound)
}

func testVolumes(t *testing.T, s store.Store) {
	ctx, connectors, targets := t.Context(), s.Catalogs().VolumeConnectors, s.Catalogs().VolumeTargets
	for n := 98; n < 100; n++ {
		insert(t, s, sample(n))
	}
	connector := func(n int, kind, id string) error {
		_, err := connectors.Insert(ctx, node.VolumeConnector{Record: record(n), NodeUUID: uuid(99), Type: kind,
			ConnectorID: id})
		return err
	}
	check(t, connector(1, "iqn", "a"))
	check(t, connector(2, "wwpn", "a"))
	check(t, connector(3, `iqn" a`, ""))
	err := connector(4, "iqn", "a")
	wants(t, err, node.ErrConflict)
	equal(t, "A volume connector with type iqn and connector ID a already exists.", err.Error())

	target := func(n, of, index int) error {
		_, err := targets.Insert(ctx, node.VolumeTarget{Record: record(n), NodeUUID: uuid(of), VolumeType: "iscsi",
			VolumeID: "v", BootIndex: index})
		return err
	}
	check(t, target(1, 98, 0))
	check(t, target(2, 99, 0))
	check(t, target(3, 99, 1))
	err = target(4, 99, 1)
	wants(t, err, node.ErrConflict)
	equal(t, "A volume target with boot index '1' for the same node already exists.", err.Error())
	wants(t, target(5, 97, 1), node.ErrNotFound)

	of, err := targets.List(ctx, "node_uuid", uuid(99))
	check(t, err)
	equal(t, 2, len(of))
	_, err = s.Commit(ctx, node.Change{Delete: uuid(99)})
	check(t, err)
	left, err := targets.List(ctx, "")
	check(t, err)
	equal(t, 1, len(left))
	gone, err := connectors.List(ctx, "")
	check(t, err)
	equal(t, 0, len(gone))
}
