package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// TestSameAsMem does the same random things to both stores: every answer and
// every error must be the same.
func TestSameAsMem(t *testing.T) {
	sameAsMem(t, "25", func() (store.Store, error) {
		return store.Open(t.Context(), t.TempDir()+"/ferrite.db",
			store.Options{NoSync: true, Readers: 1, Keys: ringOf(t, 1)})
	})
}

func TestPostgresSameAsMem(t *testing.T) {
	sameAsMem(t, "8", func() (store.Store, error) {
		s, err := store.OpenPostgres(t.Context(), postgrestest.URL(t),
			store.PostgresOptions{Options: store.Options{Readers: 1, Keys: ringOf(t, 1)}})
		return &numbered{Database: s, ours: map[int64]int64{}, real: map[int64]int64{}}, err
	})
}

func sameAsMem(t *testing.T, checks string, open func() (store.Store, error)) {
	t.Helper()
	few(t, checks)
	rapid.Check(t, func(r *rapid.T) {
		s, err := open()
		if err != nil {
			r.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				r.Error(err)
			}
		}()
		p := &pair{ctx: t.Context(), a: mem.New(), b: s, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
		r.Repeat(map[string]func(*rapid.T){
			"commit":   p.commit,
			"effects":  p.effects,
			"queries":  p.queries,
			"leases":   p.leases,
			"catalogs": p.catalogs,
			"overview": p.overview,
			"time":     func(r *rapid.T) { p.now = p.now.Add(time.Duration(rapid.IntRange(0, 40e9).Draw(r, "ns"))) },
		})
	})
}

// few keeps the test quick unless -rapid.checks asks for more.
func few(t *testing.T, checks string) {
	f := flag.Lookup("rapid.checks")
	if f.Value.String() != f.DefValue {
		return
	}
	t.Cleanup(func() {
		if err := f.Value.Set(f.DefValue); err != nil {
			t.Error(err)
		}
	})
	if err := f.Value.Set(checks); err != nil {
		t.Fatal(err)
	}
}

type pair struct {
	ctx  context.Context
	a, b store.Store
	now  time.Time
	held []node.Effect // claimed once, perhaps finished since
}

// both asks both stores and compares.
func both[T any](r *rapid.T, p *pair, call func(s store.Store) (T, error)) (T, error) {
	va, ea := call(p.a)
	vb, eb := call(p.b)
	if d := cmp.Diff(va, vb); d != "" {
		r.Fatalf("-mem +database:\n%s", d)
	}
	// Of several conflicts at once either may be named; an effect that is fenced off is named by its number.
	if !errors.Is(ea, node.ErrConflict) && !errors.Is(ea, node.ErrFenced) && fmt.Sprint(ea) != fmt.Sprint(eb) {
		r.Fatalf("mem answers %v, the database %v", ea, eb)
	}
	for _, target := range []error{node.ErrNotFound, node.ErrConflict, node.ErrStale, node.ErrFenced} {
		if errors.Is(ea, target) != errors.Is(eb, target) {
			r.Fatalf("mem answers %v, the database %v: one is %v", ea, eb, target)
		}
	}
	return va, ea
}

func uuidN(n int) string { return fmt.Sprintf("11111111-0000-4000-8000-%012d", n) }

// anyOf draws from few values, so that they meet.
func anyOf(r *rapid.T, label string, values ...string) string {
	return rapid.SampledFrom(values).Draw(r, label)
}

func anyUUID(r *rapid.T) string { return uuidN(rapid.IntRange(0, 5).Draw(r, "uuid")) }

func (p *pair) someTime(r *rapid.T) time.Time {
	return rapid.SampledFrom([]time.Time{{}, p.now, p.now.Add(-time.Second), p.now.Add(time.Minute + 1001)}).Draw(r,
		"time")
}

func (p *pair) commit(r *rapid.T) {
	var c node.Change
	uuid := anyUUID(r)
	switch rapid.IntRange(0, 9).Draw(r, "kind") {
	case 0:
		c.Delete, c.DeleteAt = uuid, rapid.Int64Range(0, 3).Draw(r, "delete at")
	case 1, 2, 3:
		n := node.Node{UUID: uuid, CreatedAt: p.now}
		p.edit(r, &n)
		c.Insert = &n
	case 4: // ports, effects and history alone
	default:
		n, err := both(r, p, func(s store.Store) (node.Node, error) { return s.Node(p.ctx, uuid) })
		if err != nil {
			n.UUID = uuid
		}
		p.edit(r, &n)
		n.Revision -= int64(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(r, "stale"))
		c.Save, c.Hurry = &n, rapid.Bool().Draw(r, "hurry")
	}
	p.parts(r, &c)
	_, _ = both(r, p, func(s store.Store) (node.Node, error) { return s.Commit(p.ctx, c) })
}

func (p *pair) edit(r *rapid.T, n *node.Node) {
	n.Name = anyOf(r, "name", "", "n1", "n2")
	n.InstanceUUID = anyOf(r, "instance", "", "", "i1")
	n.ProvisionState = node.State(anyOf(r, "state", "enroll", "active"))
	n.ParentNode = anyOf(r, "parent", "", "", uuidN(0))
	n.Shard = anyOf(r, "shard", "", "s1", "s2")
	n.ChassisUUID = anyOf(r, "chassis", "", "", uuidN(30))
	n.Description = anyOf(r, "description", "", "Ünï% 'code'", "b_d")
	n.Maintenance = rapid.Bool().Draw(r, "maintenance")
	n.AutomatedClean = rapid.SampledFrom([]*bool{nil, new(bool)}).Draw(r, "automated clean")
	n.Interfaces = map[string]string{"power": anyOf(r, "power", "", "fake")}
	n.Extra = map[string]any{"text": rapid.String().Draw(r, "text"), "n": 1.5}
	n.DriverInfo = map[string]any{"redfish_password": rapid.String().Draw(r, "password"), "port": 443.0}
	n.Agent.Token = anyOf(r, "token", "", "t1")
	n.Deadline = p.someTime(r)
	at := p.someTime(r)
	n.UpdatedAt = &at
}

func (p *pair) parts(r *rapid.T, c *node.Change) {
	if len(p.held) > 0 && rapid.Bool().Draw(r, "finish") {
		e := rapid.SampledFrom(p.held).Draw(r, "held")
		c.Finish = &e
	}
	if rapid.Bool().Draw(r, "owe") {
		c.Effects = []node.Effect{{Node: anyUUID(r), Generation: 3, Name: "x",
			Args: json.RawMessage(anyOf(r, "args", "", "{}")), RunAt: p.someTime(r)}}
	}
	if rapid.Bool().Draw(r, "put port") {
		port := node.Port{UUID: uuidN(10 + rapid.IntRange(0, 3).Draw(r, "port")), NodeUUID: anyUUID(r),
			Address: anyOf(r, "mac", "a", "b", "c"),
			Name:    anyOf(r, "port name", "", "", "eth0"), PortgroupUUID: anyOf(r, "portgroup", "", "", uuidN(40),
				uuidN(41)), Description: anyOf(r, "port description", "", "Ünï% 'code'")}
		if rapid.Bool().Draw(r, "new port") {
			c.AddPorts = []node.Port{port}
		} else {
			c.SavePorts = []node.Port{port}
		}
	}
	if rapid.IntRange(0, 4).Draw(r, "drop port") == 0 {
		c.DropPorts = []string{uuidN(10 + rapid.IntRange(0, 3).Draw(r, "port"))}
	}
	if rapid.IntRange(0, 4).Draw(r, "inspected") == 0 {
		c.Inspected = &node.Inspected{Inventory: json.RawMessage(anyOf(r, "inventory", "", `{"a":1}`))}
	}
	if rapid.IntRange(0, 3).Draw(r, "put allocation") == 0 {
		v := p.allocation(r)
		c.PutAllocation = &v
	}
	if rapid.IntRange(0, 4).Draw(r, "drop allocation") == 0 {
		c.DropAllocation = uuidN(20 + rapid.IntRange(0, 2).Draw(r, "allocation"))
	}
	if rapid.IntRange(0, 4).Draw(r, "told") == 0 {
		c.HardwareReport = &node.HardwareReport{Firmware: []node.FirmwareComponent{{Component: anyOf(r, "component", "bios",
			"bmc"), CreatedAt: p.now}}}
	}
	if rapid.IntRange(0, 4).Draw(r, "erase report") == 0 {
		c.PutEraseReport = &node.EraseReport{Record: node.Record{UUID: uuidN(50 + rapid.IntRange(0, 3).Draw(r, "report")),
			CreatedAt: p.now}, NodeUUID: anyUUID(r), Payload: []byte{1}}
	}
	if rapid.Bool().Draw(r, "history") {
		c.History = []node.HistoryEntry{{UUID: "h", NodeUUID: anyUUID(r), CreatedAt: p.now,
			Event: rapid.String().Draw(r, "event")}}
	}
}

// allocation is one of a few, perhaps of a node.
func (p *pair) allocation(r *rapid.T) node.Allocation {
	return node.Allocation{
		Record: node.Record{UUID: uuidN(20 + rapid.IntRange(0, 2).Draw(r, "allocation")),
			Revision: rapid.Int64Range(0, 2).Draw(r, "revision"), CreatedAt: p.now},
		Name: anyOf(r, "name", "", "n1", "n2"), State: node.AllocationState(anyOf(r, "state", "allocating", "active")),
		NodeUUID: anyOf(r, "node", "", uuidN(0), uuidN(1)), LastError: rapid.String().Draw(r, "error"),
	}
}

func (p *pair) effects(r *rapid.T) {
	owner := anyOf(r, "owner", "me", "you")
	if len(p.held) == 0 || rapid.Bool().Draw(r, "claim") {
		limit := rapid.IntRange(0, 3).Draw(r, "limit")
		got, _ := both(r, p, func(s store.Store) ([]node.Effect, error) {
			return storetest.Claim(p.ctx, s, owner, p.now, 30*time.Second, limit)
		})
		p.held = append(p.held, got...)
		return
	}
	e := rapid.SampledFrom(p.held).Draw(r, "held")
	at, what := p.someTime(r), rapid.IntRange(0, 2).Draw(r, "what")
	_, _ = both(r, p, func(s store.Store) (int, error) {
		switch what {
		case 0:
			return 0, s.Renew(p.ctx, e, at)
		case 1:
			return 0, s.Release(p.ctx, e, at, "why")
		}
		return s.Takeover(p.ctx, owner, at)
	})
}

func (p *pair) queries(r *rapid.T) {
	q := node.Query{
		SortKey: rapid.SampledFrom(storetest.SortKeys).Draw(r, "sort"), Desc: rapid.Bool().Draw(r, "desc"),
		Limit:  rapid.IntRange(0, 3).Draw(r, "limit"),
		Marker: rapid.SampledFrom([]string{"", "", uuidN(0), uuidN(1)}).Draw(r, "marker"),
	}
	for _, set := range []func(){
		func() { s := node.Active; q.ProvisionState = &s },
		func() { q.WithChildren = true },
		func() { q.Equal = map[string]string{"parent_node": uuidN(0)} },
		func() { q.UUIDs = []string{uuidN(0), uuidN(2)} },
		func() { q.Equal = map[string]string{"instance_uuid": "i1"} },
		func() { q.Associated = new(bool) },
		func() { q.Is = map[string]bool{"maintenance": false} },
		func() { q.Sharded = new(bool) },
		func() { q.Shards = []string{"s1", "x"} },
		func() { q.Contains = "üNÏ% '" },
	} {
		if rapid.IntRange(0, 5).Draw(r, "filter") == 0 {
			set()
		}
	}
	_, _ = both(r, p, func(s store.Store) ([]node.Node, error) { return s.Nodes(p.ctx, q) })
	pq := node.PortQuery{NodeUUID: anyOf(r, "node", "", uuidN(1)), Address: anyOf(r, "mac", "", "a"),
		Marker: anyOf(r, "marker", "", uuidN(11)), Limit: q.Limit,
		PortgroupUUID: anyOf(r, "portgroup", "", uuidN(40)), Contains: anyOf(r, "contains", "", "üNÏ% '")}
	pq.Shards = rapid.SampledFrom([][]string{nil, {"s1"}, {"s1", "s2"}}).Draw(r, "shards of ports")
	_, _ = both(r, p, func(s store.Store) ([]node.Port, error) { return s.Ports(p.ctx, pq) })
}

func (p *pair) leases(r *rapid.T) {
	l := node.Lease{MAC: anyOf(r, "mac", "m1", "m2", "m3"), IP: anyOf(r, "ip", "1", "2", "3"),
		Subnet: anyOf(r, "subnet", "", "rack"),
		Static: rapid.Bool().Draw(r, "static"), Expires: p.someTime(r)}
	switch rapid.IntRange(0, 5).Draw(r, "drop") {
	case 0:
		_, _ = both(r, p, func(s store.Store) (int, error) { return 0, s.DeleteLease(p.ctx, l.MAC) })
		return
	case 1:
		_, _ = both(r, p, func(s store.Store) (int, error) { return 0, s.EndLease(p.ctx, l) })
		return
	}
	_, _ = both(r, p, func(s store.Store) (int, error) { return 0, s.SaveLease(p.ctx, l) })
}

// catalogs writes templates, runbooks and allocations, or the records that nodes and ports name.
func (p *pair) catalogs(r *rapid.T) {
	name := anyOf(r, "name", "n1", "n2", "n3")
	head := node.Record{UUID: anyUUID(r), Revision: rapid.Int64Range(1, 3).Draw(r, "revision"), CreatedAt: p.now}
	switch anyOf(r, "type", "allocation", "runbook", "template") {
	case "allocation":
		write(r, p, func(s store.Store) node.Catalog[node.Allocation] { return s.Catalogs().Allocations }, p.allocation(r))
		return
	case "runbook":
		write(r, p, func(s store.Store) node.Catalog[node.Runbook] { return s.Catalogs().Runbooks },
			node.Runbook{Record: head, Name: name})
		return
	}
	steps := []node.Step{{Step: rapid.String().Draw(r, "step")}}
	if rapid.Bool().Draw(r, "what nodes and ports name") {
		p.holders(r)
		return
	}
	write(r, p, func(s store.Store) node.Catalog[node.DeployTemplate] { return s.Catalogs().DeployTemplates },
		node.DeployTemplate{Record: head, Name: name, Steps: steps})
}

// holders writes chassis and portgroups.
func (p *pair) holders(r *rapid.T) {
	rack := node.Chassis{Record: node.Record{UUID: uuidN(30),
		Revision: int64(rapid.IntRange(1, 3).Draw(r, "chassis revision"))}}
	write(r, p, func(s store.Store) node.Catalog[node.Chassis] { return s.Catalogs().Chassis }, rack)
	head := node.Record{UUID: uuidN(40 + rapid.IntRange(0, 1).Draw(r, "portgroup")),
		Revision: int64(rapid.IntRange(1, 3).Draw(r, "portgroup revision"))}
	write(r, p, func(s store.Store) node.Catalog[node.Portgroup] { return s.Catalogs().Portgroups },
		node.Portgroup{Record: head, NodeUUID: anyUUID(r), Name: anyOf(r, "bond", "", "b1"),
			Address: anyOf(r, "bond mac", "", "a")})
}

// write makes one write to a catalog.
func write[T any, P node.Recorded[T]](r *rapid.T, p *pair, of func(store.Store) node.Catalog[T], v T) {
	what := rapid.IntRange(0, 2).Draw(r, "what")
	_, _ = both(r, p, func(s store.Store) (any, error) {
		switch what {
		case 0:
			return of(s).Insert(p.ctx, v)
		case 1:
			return of(s).Save(p.ctx, v)
		}
		return nil, of(s).Delete(p.ctx, P(&v).Head().UUID)
	})
}

// overview reads everything there is.
func (p *pair) overview(r *rapid.T) {
	for i := range 6 {
		uuid := uuidN(i)
		_, _ = both(r, p, func(s store.Store) (node.Node, error) { return s.Node(p.ctx, uuid) })
		_, _ = both(r, p, func(s store.Store) (*node.Effect, error) { return s.PendingEffect(p.ctx, uuid) })
		_, _ = both(r, p, func(s store.Store) (node.Inspected, error) { return s.Inspected(p.ctx, uuid) })
		_, _ = both(r, p, func(s store.Store) (node.HardwareReport, error) { return s.HardwareReport(p.ctx, uuid) })
		_, _ = both(r, p, func(s store.Store) ([]node.HistoryEntry, error) { return s.History(p.ctx, uuid) })
	}
	_, _ = both(r, p, func(s store.Store) (node.Node, error) { return s.Node(p.ctx, "n1") })
	_, _ = both(r, p, func(s store.Store) (node.Port, error) { return s.Port(p.ctx, "eth0") })
	_, _ = both(r, p, func(s store.Store) ([]node.Portgroup, error) { return s.Catalogs().Portgroups.List(p.ctx, "") })
	_, _ = both(r, p, func(s store.Store) ([]node.Chassis, error) { return s.Catalogs().Chassis.List(p.ctx, "") })
	_, _ = both(r, p, func(s store.Store) ([]node.Lease, error) { return s.Leases(p.ctx) })
	_, _ = both(r, p, func(s store.Store) ([]node.DeployTemplate, error) {
		return s.Catalogs().DeployTemplates.List(p.ctx, "")
	})
	_, _ = both(r, p, func(s store.Store) ([]node.Runbook, error) { return s.Catalogs().Runbooks.List(p.ctx, "") })
	_, _ = both(r, p, func(s store.Store) ([]node.Allocation, error) { return s.Catalogs().Allocations.List(p.ctx, "") })
	_, _ = both(r, p, func(s store.Store) ([]node.EraseReport, error) { return s.Catalogs().EraseReports.List(p.ctx, "") })
	_, _ = both(r, p, func(s store.Store) ([]node.EraseReport, error) {
		return s.EraseReports(p.ctx, node.EraseReportQuery{Desc: true, Limit: 3})
	})
	_, _ = both(r, p, func(s store.Store) ([]node.Allocation, error) {
		return s.Catalogs().Allocations.List(p.ctx, "state", "active")
	})
	_, _ = both(r, p, func(s store.Store) (node.DeployTemplate, error) {
		return s.Catalogs().DeployTemplates.Find(p.ctx, "n1")
	})
	_, _ = both(r, p, func(s store.Store) ([]string, error) { return s.Expired(p.ctx, p.now, 3) })
	_, _ = both(r, p, func(s store.Store) ([]node.Effect, error) { return s.Unclaimed(p.ctx, p.now) })
	_, _ = both(r, p, func(s store.Store) (string, error) {
		at, ok, err := s.NextDeadline(p.ctx)
		return fmt.Sprint(at, ok), err
	})
}
