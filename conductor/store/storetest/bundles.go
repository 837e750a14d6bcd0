package storetest

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// bundle is a change that inserts a node with one of each record that belongs to it.
func bundle(n int) node.Change {
	s := sample(n)
	s.ProvisionState, s.InstanceUUID, s.AllocationUUID = node.Active, uuid(90), uuid(90)
	g := group(1, "bond")
	g.NodeUUID = s.UUID
	p := port(1, n)
	p.PortgroupUUID = g.UUID
	return node.Change{
		Insert: &s, SavePortgroups: []node.Portgroup{g}, AddPorts: []node.Port{p},
		PutAllocation: &node.Allocation{Record: node.Record{UUID: uuid(90), CreatedAt: at(1)}, Name: "a",
			State: node.AllocationActive, NodeUUID: s.UUID},
		Volumes: node.VolumeChange{
			Connectors: []node.VolumeConnector{{Record: node.Record{UUID: uuid(91), CreatedAt: at(1)}, NodeUUID: s.UUID,
				Type: "iqn", ConnectorID: "c"}},
			Targets: []node.VolumeTarget{{Record: node.Record{UUID: uuid(92), CreatedAt: at(1)}, NodeUUID: s.UUID,
				VolumeType: "iscsi", VolumeID: "v"}},
		},
		Inspected: &node.Inspected{Inventory: []byte(`{"a":1}`)},
	}
}

// testBundles: a node comes with all that belongs to it, or not at all; and so do its volumes and portgroups go.
func testBundles(t *testing.T, s store.Store) {
	ctx, kept := t.Context(), s.Catalogs()
	lists := func() (counts [5]int) {
		t.Helper()
		nodes, err := s.Nodes(ctx, node.Query{})
		check(t, err)
		ports, err := s.Ports(ctx, node.PortQuery{})
		check(t, err)
		groups, err := kept.Portgroups.List(ctx, "", "")
		check(t, err)
		connectors, err := kept.VolumeConnectors.List(ctx, "", "")
		check(t, err)
		targets, err := kept.VolumeTargets.List(ctx, "", "")
		check(t, err)
		return [5]int{len(nodes), len(ports), len(groups), len(connectors), len(targets)}
	}
	for _, spoil := range []func(c *node.Change){
		func(c *node.Change) { c.Volumes.Targets = append(c.Volumes.Targets, c.Volumes.Targets[0]) },
		func(c *node.Change) { c.AddPorts = append(c.AddPorts, c.AddPorts[0]) },
		func(c *node.Change) { c.SavePortgroups = append(c.SavePortgroups, c.SavePortgroups[0]) },
		func(c *node.Change) { c.Volumes.Connectors = append(c.Volumes.Connectors, c.Volumes.Connectors[0]) },
	} {
		c := bundle(1)
		spoil(&c)
		_, err := s.Commit(ctx, c)
		wants(t, err, node.ErrConflict)
		equal(t, [5]int{}, lists())
	}
	n, err := s.Commit(ctx, bundle(1))
	check(t, err)
	equal(t, [5]int{1, 1, 1, 1, 1}, lists())
	a, err := kept.Allocations.Find(ctx, "a")
	check(t, err)
	equal(t, n.UUID, a.NodeUUID)
	_, err = s.Commit(ctx, bundle(1))
	wants(t, err, node.ErrConflict)

	_, err = s.Commit(ctx, node.Change{Save: &n, DropPortgroups: []string{uuid(77)}})
	wants(t, err, node.ErrNotFound)
	g := bundle(1).SavePortgroups[0].UUID
	if _, err = s.Commit(ctx, node.Change{Save: &n, DropPortgroups: []string{g}}); err == nil {
		t.Error("a portgroup with ports was dropped")
	}
	connector, err := kept.VolumeConnectors.Find(ctx, uuid(91))
	check(t, err)
	stale := connector
	stale.Revision = 9
	_, err = s.Commit(ctx, node.Change{Save: &n, Volumes: node.VolumeChange{Connectors: []node.VolumeConnector{stale}}})
	wants(t, err, node.ErrStale)
	connector.ConnectorID = "d"
	_, err = s.Commit(ctx, node.Change{Save: &n, DropPorts: []string{port(1, 1).UUID}, DropPortgroups: []string{g},
		Volumes: node.VolumeChange{Connectors: []node.VolumeConnector{connector}, DropTargets: []string{uuid(92)}}})
	check(t, err)
	equal(t, [5]int{1, 0, 0, 1, 0}, lists())
	connector, err = kept.VolumeConnectors.Find(ctx, uuid(91))
	check(t, err)
	equal(t, "d", connector.ConnectorID)
}
