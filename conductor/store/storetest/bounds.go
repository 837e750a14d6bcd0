package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Database is a store on a disk or server, with the methods that bound its size.
type Database interface {
	store.Store
	Usage(ctx context.Context, project string) (node.Usage, error)
	DropOldEraseReports(ctx context.Context, before time.Time) (int64, error)
}

// RunDatabase runs Run, and the suite for the bounds of a database.
func RunDatabase(t *testing.T, open func(t *testing.T) Database) {
	Run(t, func(t *testing.T) store.Store { return open(t) })
	for name, test := range map[string]func(t *testing.T, s Database){
		"the records of a project are counted": testUsage, "old erase reports go": testOldEraseReports,
		"a node has so many parts": testParts, "sealed parts of a node count": testSealedParts,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// testUsage counts the nodes that a project owns, their parts, the volumes of nodes that it rents, and its own records.
// Records without an owner, and other projects' records, are not counted. An owner's ports use up nothing of its
// lessee.
func testUsage(t *testing.T, s Database) {
	owned, rented, both, nobodys := sample(1), sample(2), sample(3), sample(4)
	owned.Owner, rented.Owner, rented.Lessee, both.Owner, both.Lessee = "blue", "red", "blue", "blue", "blue"
	for i, n := range []node.Node{owned, rented, both, nobodys} {
		n = insert(t, s, n)
		p := node.Port{UUID: uuid(10 + i), NodeUUID: n.UUID, Address: "52:54:00:00:00:0" + string(rune('1'+i))}
		_, err := s.Commit(t.Context(), node.Change{AddPorts: []node.Port{p}})
		check(t, err)
	}
	for i, owner := range []string{"blue", "red", ""} {
		_, err := s.Catalogs().Allocations.Insert(t.Context(), node.Allocation{Record: record(20 + i), Owner: owner})
		check(t, err)
		_, err = s.Catalogs().Runbooks.Insert(t.Context(), node.Runbook{Record: record(30 + i), Owner: owner,
			Name: "CUSTOM_" + string(rune('A'+i))})
		check(t, err)
		_, err = s.Catalogs().Images.Insert(t.Context(), node.Image{Record: record(40 + i), Owner: owner, Name: "os-" + owner,
			Digest: "sha256:aa"})
		check(t, err)
	}
	used := map[string]node.Usage{}
	for _, project := range []string{"blue", "red", "green", ""} {
		got, err := s.Usage(t.Context(), project)
		check(t, err)
		used[project] = got
	}
	own := func(nodes, ports, each, bytes int64) node.Usage {
		return node.Usage{"nodes": nodes, "ports": ports, "portgroups": 0, "volume_connectors": 0, "volume_targets": 0,
			"allocations": each, "runbooks": each, "images": each, node.UsageBytes: bytes}
	}
	blue, red := used["blue"][node.UsageBytes], used["red"][node.UsageBytes]
	equal(t, own(2, 2, 1, blue), used["blue"])
	equal(t, own(1, 1, 1, red), used["red"])
	equal(t, own(0, 0, 0, 0), used["green"])
	if red < 500 || blue <= red {
		t.Errorf("%d bytes of blue, %d of red, which has less", blue, red)
	}
	owned, err := s.Node(t.Context(), owned.UUID)
	check(t, err)
	owned.Extra = map[string]any{"a": string(make([]byte, 1000))}
	_, err = s.Commit(t.Context(), node.Change{Save: &owned})
	check(t, err)
	more, err := s.Usage(t.Context(), "blue")
	check(t, err)
	if grown := more[node.UsageBytes] - blue; grown < 1000 || grown > 10_000 {
		t.Errorf("1,000 bytes more are %d", grown)
	}
}

// testParts refuses more ports, portgroups and volumes than a machine has, by number and by bytes. Existing parts may
// be edited and deleted.
func testParts(t *testing.T, s Database) {
	n, other := insert(t, s, sample(1)), insert(t, s, sample(2))
	id := func(i int) string { return fmt.Sprintf("11111111-0000-4000-8000-%012x", i) }
	port := func(i int, extra int) node.Port {
		return node.Port{UUID: id(i), NodeUUID: n.UUID, Address: fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255),
			Extra: map[string]any{"a": strings.Repeat("x", extra)}}
	}
	commit := func(c node.Change) error {
		_, err := s.Commit(t.Context(), c)
		return err
	}
	refused := func(err error) {
		t.Helper()
		if !errors.As(err, new(*node.Refusal)) {
			t.Errorf("error %v, expected a refusal", err)
		}
	}
	var many []node.Port
	for i := range 256 {
		many = append(many, port(i, 0))
	}
	check(t, commit(node.Change{AddPorts: many}))
	refused(commit(node.Change{AddPorts: []node.Port{port(256, 0)}}))
	elsewhere := port(256, 0)
	elsewhere.NodeUUID = other.UUID
	check(t, commit(node.Change{AddPorts: []node.Port{elsewhere}}))
	elsewhere.NodeUUID = n.UUID
	refused(commit(node.Change{SavePorts: []node.Port{elsewhere}}))
	for i := range 80 { // 64 of 64 KiB are 4 MiB
		if err := commit(node.Change{SavePorts: []node.Port{port(i, 64<<10)}}); err != nil {
			refused(err)
			if i < 62 {
				t.Errorf("port %d is refused", i)
			}
			break
		}
		if i > 64 {
			t.Fatal("more than 4 MiB are taken")
		}
	}
	check(t, commit(node.Change{SavePorts: []node.Port{port(0, 1<<10)}}))
	check(t, commit(node.Change{DropPorts: []string{id(0)}}))
	for i := range 257 {
		g := node.Portgroup{Record: node.Record{UUID: id(i)}, NodeUUID: n.UUID}
		if _, err := s.Catalogs().Portgroups.Insert(t.Context(), g); (err != nil) != (i == 256) {
			t.Errorf("portgroup %d: %v", i, err)
		}
		v := node.VolumeTarget{Record: node.Record{UUID: id(i)}, NodeUUID: n.UUID, BootIndex: i, VolumeID: "1"}
		if _, err := s.Catalogs().VolumeTargets.Insert(t.Context(), v); (err != nil) != (i == 256) {
			t.Errorf("volume target %d: %v", i, err)
		}
	}
}

// testSealedParts counts sealed parts, too.
func testSealedParts(t *testing.T, s Database) {
	n := insert(t, s, sample(1))
	target := func(i, secret int) node.VolumeTarget {
		return node.VolumeTarget{Record: node.Record{UUID: uuid(300 + i)}, NodeUUID: n.UUID, BootIndex: i, VolumeID: "1",
			Properties: map[string]any{"auth_password": strings.Repeat("x", secret)}}
	}
	taken := 0
	for ; taken < 80; taken++ {
		if _, err := s.Catalogs().VolumeTargets.Insert(t.Context(), target(taken, 64<<10)); err != nil {
			if !errors.As(err, new(*node.Refusal)) {
				t.Errorf("error %v, expected a refusal", err)
			}
			break
		}
	}
	if taken < 62 || taken > 64 {
		t.Errorf("%d volume targets with 64 KiB of secrets are taken", taken)
	}
	less := target(0, 63<<10)
	less.Revision = 1
	_, err := s.Catalogs().VolumeTargets.Save(t.Context(), less)
	check(t, err)
}

// testOldEraseReports deletes reports that are older than a time, if their nodes are gone.
func testOldEraseReports(t *testing.T, s Database) {
	n, gone := insert(t, s, sample(1)), insert(t, s, sample(2))
	for i, of := range []string{n.UUID, gone.UUID, gone.UUID} {
		r := eraseReport(10+i, of)
		_, err := s.Commit(t.Context(), node.Change{PutEraseReport: &r})
		check(t, err)
	}
	drop := func(before time.Time, want int64, left ...string) {
		t.Helper()
		dropped, err := s.DropOldEraseReports(t.Context(), before)
		check(t, err)
		equal(t, want, dropped)
		all, err := s.EraseReports(t.Context(), node.EraseReportQuery{})
		check(t, err)
		var have []string
		for _, r := range all {
			have = append(have, r.UUID)
		}
		equal(t, left, have)
	}
	drop(at(99), 0, uuid(10), uuid(11), uuid(12)) // their nodes are there
	_, err := s.Commit(t.Context(), node.Change{Delete: gone.UUID})
	check(t, err)
	drop(at(11), 0, uuid(10), uuid(11), uuid(12)) // none is older
	drop(at(12), 1, uuid(10), uuid(12))
	drop(at(99), 1, uuid(10))
}
