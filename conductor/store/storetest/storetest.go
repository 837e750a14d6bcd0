// Package storetest is the suite that every store passes. It so defines the guarantees that engine may rely on.
//
// It must not know any store: it sees store.Store and nothing else.
package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Run runs the suite. open makes a new, empty store and sees to its closing.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s store.Store)
	}{
		{"insert and find", testInsert},
		{"save checks the revision", testSave},
		{"names, instances and UUIDs are unique", testUnique},
		{"a machine is held by one node", testMachines},
		{"a change is all or nothing", testAtomic},
		{"a change says one thing of its node", testAmbiguous},
		{"delete takes everything along", testDelete},
		{"what is kept is a copy", testCopy},
		{"ports", testPorts},
		{"queries filter", testFilters},
		{"queries sort and page", testPages},
		{"shards", testShards},
		{"claim in order, once", testClaim},
		{"the fence", testFence},
		{"renew, release, take over", testLease},
		{"hurry", testHurry},
		{"one effect per node", testOneEffect},
		{"effects that nobody holds", testUnclaimed},
		{"deadlines", testDeadlines},
		{"history is bounded", testHistory},
		{"inspection", testInspected},
		{"hardware reports", testHardwareReport},
		{"node of an address", testNodeByAddress},
		{"DHCP leases", testLeases},
		{"DHCP leases together", testLeasesTogether},
		{"the hold", testHold},
		{"deploy templates", testDeployTemplates},
		{"deploy templates by trait", testTemplatesByTrait},
		{"runbooks", testRunbooks},
		{"allocations", testAllocations},
		{"allocations are bound to nodes", testBinding},
		{"allocations are parted from nodes", testParting},
		{"portgroups", testPortgroups},
		{"portgroups go with their node", testPortgroupsGo},
		{"portgroups are saved with their ports", testPortgroupMoves},
		{"what is named stays", testHolders},
		{"volumes", testVolumes},
		{"a node comes with all that belongs to it", testBundles},
		{"inspection rules", testInspectionRules},
		{"images", testImages},
		{"secrets", testSecrets},
		{"erase reports outlive their node", testEraseReports},
		{"erase reports of all nodes", testEraseReportList},
		{"documents", testObjects},
		{"documents are written all or none", testObjectsAtomic},
		{"documents are found", testObjectQueries},
		{"documents are reported in order", testObjectOrder},
		{"events are told with their changes", testEvents},
		{"events are told with their documents", testDocumentEvents},
		{"the audit is added to", testAudit},
		{"old entries of the audit go", testAuditPrune},
		{"old events go", testOldEvents},
		{"readers of events have places", testEventReaders},
		{"events of concurrent changes", testEventOrder},
		{"concurrent commits", testConcurrent},
		{"an ended context", testContext},
		{"a closed store", testClosed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// at is the n-th second of the suite's time.
func at(n int) time.Time { return time.Date(2026, 11, 20, 12, 0, n, 0, time.UTC) }

func uuid(n int) string {
	const digits = "0123456789abcdef"
	return "11111111-0000-4000-8000-0000000000" + string([]byte{digits[n/16%16], digits[n%16]})
}

func sample(n int) node.Node {
	return node.Node{UUID: uuid(n), Driver: "fake-hardware", ProvisionState: node.Enroll, CreatedAt: at(n)}
}

func insert(t *testing.T, s store.Store, n node.Node, effects ...node.Effect) node.Node {
	t.Helper()
	saved, err := s.Commit(t.Context(), node.Change{Insert: &n, Effects: effects})
	check(t, err)
	return saved
}

func effect(n int, name string, runAt time.Time) node.Effect {
	return node.Effect{Node: uuid(n), Generation: 1, Name: name, Args: []byte(`{"a":1}`), RunAt: runAt}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants checks that err is target. An error that a client can cause must also be a Refusal.
func wants(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
	var r *node.Refusal
	if errors.Is(target, node.ErrNotFound) && !errors.As(err, &r) {
		t.Errorf("error %v is not a Refusal", err)
	}
}

func equal(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func uuids(nodes []node.Node) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.UUID)
	}
	return all
}
