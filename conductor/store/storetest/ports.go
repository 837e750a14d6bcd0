package storetest

import (
	"fmt"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// port is the n-th port, of the m-th node.
func port(n, m int) node.Port {
	return node.Port{
		UUID: uuid(200 + n), NodeUUID: uuid(m), Address: fmt.Sprintf("52:54:00:00:00:%02x", n), PXEEnabled: true,
		Extra: map[string]any{"n": float64(n)}, CreatedAt: at(n),
	}
}

func add(t *testing.T, s store.Store, ports ...node.Port) error {
	_, err := s.Commit(t.Context(), node.Change{AddPorts: ports})
	return err
}

func save(t *testing.T, s store.Store, ports ...node.Port) error {
	_, err := s.Commit(t.Context(), node.Change{SavePorts: ports})
	return err
}

func testPorts(t *testing.T, s store.Store) {
	lent := sample(2)
	lent.Owner, lent.Lessee = "o", "l"
	insert(t, s, sample(1))
	insert(t, s, lent)
	check(t, add(t, s, port(2, 1), port(1, 1), port(3, 2)))

	got, err := s.Port(t.Context(), port(1, 1).UUID)
	check(t, err)
	equal(t, port(1, 1), got)
	for _, c := range []struct {
		q    node.PortQuery
		want []node.Port
	}{
		{node.PortQuery{}, []node.Port{port(2, 1), port(1, 1), port(3, 2)}},
		{node.PortQuery{NodeUUID: uuid(1)}, []node.Port{port(2, 1), port(1, 1)}},
		{node.PortQuery{Address: port(3, 2).Address}, []node.Port{port(3, 2)}},
		{node.PortQuery{NodeUUID: uuid(9)}, nil},
		{node.PortQuery{Project: "o"}, []node.Port{port(3, 2)}},
		{node.PortQuery{Project: "l"}, []node.Port{port(3, 2)}},
		{node.PortQuery{Project: "x"}, nil},
		{node.PortQuery{Project: "o", NodeUUID: uuid(1)}, nil},
		{node.PortQuery{Marker: port(2, 1).UUID}, []node.Port{port(1, 1), port(3, 2)}},
		{node.PortQuery{Marker: port(2, 1).UUID, Limit: 1}, []node.Port{port(1, 1)}},
	} {
		got, err := s.Ports(t.Context(), c.q)
		check(t, err)
		equal(t, c.want, got)
	}
	_, err = s.Ports(t.Context(), node.PortQuery{Marker: uuid(9)})
	wants(t, err, node.ErrNotFound)

	t.Run("names and filters", func(t *testing.T) { testPortNames(t, s) })
	t.Run("a taken UUID", func(t *testing.T) {
		p := port(2, 2)
		p.Address = "52:54:00:00:00:fe"
		err := add(t, s, p)
		wants(t, err, node.ErrConflict)
		equal(t, "A port with UUID "+p.UUID+" already exists.", err.Error())
		wants(t, add(t, s, port(4, 1), p), node.ErrConflict)
		got, err := s.Ports(t.Context(), node.PortQuery{})
		check(t, err)
		equal(t, []node.Port{port(2, 1), port(1, 1), port(3, 2)}, got)
	})
	t.Run("one that is saved keeps its place", func(t *testing.T) {
		p := port(2, 1)
		p.PXEEnabled, p.Address = false, "52:54:00:00:00:ff"
		check(t, save(t, s, p))
		got, err := s.Ports(t.Context(), node.PortQuery{NodeUUID: uuid(1)})
		check(t, err)
		equal(t, []node.Port{p, port(1, 1)}, got)
	})
	t.Run("a taken address", func(t *testing.T) {
		added, saved := port(4, 2), port(1, 1)
		added.Address, saved.Address = port(3, 2).Address, port(3, 2).Address
		wants(t, add(t, s, added), node.ErrConflict)
		wants(t, save(t, s, saved), node.ErrConflict)
	})
	t.Run("an address moves", func(t *testing.T) {
		p := port(5, 1)
		p.Address = port(3, 2).Address
		_, err := s.Commit(t.Context(), node.Change{DropPorts: []string{port(3, 2).UUID}, AddPorts: []node.Port{p}})
		check(t, err)
	})
	t.Run("unknown node or port", func(t *testing.T) {
		wants(t, add(t, s, port(6, 99)), node.ErrNotFound)
		wants(t, save(t, s, port(1, 99)), node.ErrNotFound)
		wants(t, save(t, s, port(7, 1)), node.ErrStale)
		_, err := s.Port(t.Context(), port(7, 1).UUID)
		wants(t, err, node.ErrNotFound)
		_, err = s.Commit(t.Context(), node.Change{DropPorts: []string{uuid(9)}})
		wants(t, err, node.ErrNotFound)
		_, err = s.Port(t.Context(), uuid(9))
		wants(t, err, node.ErrNotFound)
	})
}

// testPortNames leaves the ports as they were.
func testPortNames(t *testing.T, s store.Store) {
	n, err := s.Node(t.Context(), uuid(2))
	check(t, err)
	n.Shard, n.ConductorGroup = "s1", "g1"
	_, err = s.Commit(t.Context(), node.Change{Save: &n})
	check(t, err)
	p := port(1, 1)
	p.Name, p.Description = "eth0", "Linke Büchse 50%"
	check(t, save(t, s, p))
	taken := port(2, 1)
	taken.Name = p.Name
	wants(t, save(t, s, taken), node.ErrConflict)
	got, err := s.Port(t.Context(), "eth0")
	check(t, err)
	equal(t, p, got)
	for _, c := range []struct {
		q    node.PortQuery
		want []node.Port
	}{
		{node.PortQuery{Contains: "BÜCHSE 50%"}, []node.Port{p}},
		{node.PortQuery{Contains: "b_chse"}, nil},
		{node.PortQuery{Shards: []string{"s0", "s1"}}, []node.Port{port(3, 2)}},
		{node.PortQuery{Shards: []string{"s0"}}, nil},
		{node.PortQuery{ConductorGroups: []string{"g1"}}, []node.Port{port(3, 2)}},
		{node.PortQuery{ConductorGroups: []string{""}}, []node.Port{port(2, 1), p}},
		{node.PortQuery{PortgroupUUID: uuid(1)}, nil},
	} {
		got, err := s.Ports(t.Context(), c.q)
		check(t, err)
		equal(t, c.want, got)
	}
	check(t, save(t, s, port(1, 1)))
	_, err = s.Port(t.Context(), "eth0")
	wants(t, err, node.ErrNotFound)
	_, err = s.Port(t.Context(), "")
	wants(t, err, node.ErrNotFound)
}

// testNodeByAddress: a port is found with its node as it is now, and an address of none is not.
func testNodeByAddress(t *testing.T, s store.Store) {
	const address = "52:54:00:00:00:01"
	n := node.Node{UUID: "11111111-2222-4333-8444-555555555555", Driver: "redfish", CreatedAt: at(1)}
	port := node.Port{UUID: "21111111-2222-4333-8444-555555555555", NodeUUID: n.UUID, Address: address, CreatedAt: at(1)}
	_, err := s.Commit(t.Context(), node.Change{Insert: &n, AddPorts: []node.Port{port}})
	check(t, err)
	for _, driver := range []string{"redfish", "ipmi"} {
		n, p, err := s.NodeByAddress(t.Context(), address)
		check(t, err)
		equal(t, []string{driver, port.UUID}, []string{n.Driver, p.UUID})
		n.Driver = "ipmi"
		_, err = s.Commit(t.Context(), node.Change{Save: &n})
		check(t, err)
	}
	_, _, err = s.NodeByAddress(t.Context(), "52:54:00:00:00:02")
	wants(t, err, node.ErrNotFound)
}

// testLeasesTogether: of several leases all go on record, or none.
func testLeasesTogether(t *testing.T, s store.Store) {
	a := node.Lease{MAC: "52:54:00:00:00:01", IP: "10.0.0.1", Expires: at(60)}
	b := node.Lease{MAC: "52:54:00:00:00:02", IP: "10.0.0.2", Expires: at(60)}
	c := node.Lease{MAC: "52:54:00:00:00:03", IP: b.IP, Expires: at(60)}
	wants(t, s.SaveLease(t.Context(), a, b, c), node.ErrConflict)
	got, err := s.Leases(t.Context())
	check(t, err)
	equal(t, 0, len(got))
	check(t, s.SaveLease(t.Context(), b, a))
	a.Expires = at(61)
	c.IP = "10.0.0.3"
	check(t, s.SaveLease(t.Context(), a, c))
	got, err = s.Leases(t.Context())
	check(t, err)
	equal(t, []node.Lease{a, b, c}, got)
}

func testLeases(t *testing.T, s store.Store) {
	a := node.Lease{MAC: "52:54:00:00:00:02", IP: "10.0.0.2", Expires: at(60)}
	b := node.Lease{MAC: "52:54:00:00:00:01", IP: "10.0.0.1", Static: true}
	check(t, s.SaveLease(t.Context(), a))
	check(t, s.SaveLease(t.Context(), b))
	wants(t, s.SaveLease(t.Context(), node.Lease{MAC: "52:54:00:00:00:03", IP: a.IP}), node.ErrConflict)
	moved := b
	moved.IP = a.IP
	wants(t, s.SaveLease(t.Context(), moved), node.ErrConflict)

	a.IP, a.Expires = "10.0.0.9", at(90)
	check(t, s.SaveLease(t.Context(), a))
	got, err := s.Leases(t.Context())
	check(t, err)
	equal(t, []node.Lease{b, a}, got)
	for _, of := range []struct {
		macs []string
		ip   string
		want []node.Lease
	}{
		{nil, "", nil},
		{[]string{a.MAC, "52:54:00:00:00:77"}, "", []node.Lease{a}},
		{[]string{a.MAC, b.MAC}, b.IP, []node.Lease{b, a}},
		{[]string{"52:54:00:00:00:77"}, a.IP, []node.Lease{a}},
		{nil, "10.0.0.77", nil},
	} {
		got, err := s.LeasesOf(t.Context(), of.macs, of.ip)
		check(t, err)
		equal(t, of.want, append([]node.Lease(nil), got...))
	}

	// The boot service writes after an earlier read: meanwhile the address may have been
	// reserved, or the lease renewed.
	lent := node.Lease{MAC: b.MAC, IP: "10.0.0.7", Expires: at(120)}
	wants(t, s.SaveLease(t.Context(), lent), node.ErrConflict)
	for _, old := range []node.Lease{lent, {MAC: b.MAC, IP: b.IP, Expires: at(999)},
		{MAC: a.MAC, IP: a.IP, Expires: at(89)},
		{MAC: a.MAC, IP: "10.0.0.2", Expires: at(999)}} {
		check(t, s.EndLease(t.Context(), old))
	}
	got, err = s.Leases(t.Context())
	check(t, err)
	equal(t, []node.Lease{b, a}, got)
	check(t, s.EndLease(t.Context(), a))
	got, err = s.Leases(t.Context())
	check(t, err)
	equal(t, []node.Lease{b}, got)

	check(t, s.SaveLease(t.Context(), a))
	declined := node.Decline{MAC: a.MAC, IP: a.IP, Subnet: a.Subnet, Stranger: true, Until: at(200)}
	elsewhere := node.Decline{MAC: b.MAC, IP: b.IP, Subnet: "rack-1", Until: at(100)}
	check(t, s.SaveDecline(t.Context(), elsewhere, at(50)))
	check(t, s.SaveDecline(t.Context(), declined, at(99)))
	got, err = s.Leases(t.Context())
	check(t, err)
	equal(t, []node.Lease{b}, got) // the decliner's lease is over, a reservation stays
	aside, err := s.Declines(t.Context())
	check(t, err)
	equal(t, []node.Decline{declined, elsewhere}, aside)
	declined.Until = at(300)
	check(t, s.SaveDecline(t.Context(), declined, at(100)))
	aside, err = s.Declines(t.Context())
	check(t, err)
	equal(t, []node.Decline{declined}, aside)

	check(t, s.DeleteLease(t.Context(), b.MAC))
	wants(t, s.DeleteLease(t.Context(), b.MAC), node.ErrNotFound)
	check(t, s.SaveLease(t.Context(), node.Lease{MAC: "52:54:00:00:00:03", IP: b.IP}))
}
