package storetest

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func eraseReport(n int, of string) node.EraseReport {
	return node.EraseReport{Record: record(n), NodeUUID: of, NodeName: "n", Failed: n%2 == 0, Payload: []byte(`{"a":1}`),
		Signature: []byte{0, 255}}
}

// testEraseReports keeps what proves an erase: with its node or not at all, and
// longer than the node, but not more than a number of them.
func testEraseReports(t *testing.T, s store.Store) {
	kept := s.Catalogs().EraseReports
	n, other := insert(t, s, sample(1)), insert(t, s, sample(2))
	first := eraseReport(1, n.UUID)
	put := func(r node.EraseReport) (err error) {
		n, err = s.Commit(t.Context(), node.Change{Save: &n, PutEraseReport: &r})
		return err
	}
	check(t, put(first))
	first.Revision = 1
	got, err := kept.Find(t.Context(), first.UUID)
	check(t, err)
	equal(t, first, got)

	stale := n
	stale.Revision += 3
	another := eraseReport(2, n.UUID)
	_, err = s.Commit(t.Context(), node.Change{Save: &stale, PutEraseReport: &another})
	wants(t, err, node.ErrStale)
	_, err = kept.Find(t.Context(), another.UUID)
	wants(t, err, node.ErrNotFound)
	before := n
	wants(t, put(first), node.ErrConflict)
	n = before

	another.NodeUUID = other.UUID
	_, err = s.Commit(t.Context(), node.Change{Save: &other, PutEraseReport: &another})
	check(t, err)
	for i := range node.EraseReportsKept {
		check(t, put(eraseReport(10+i, n.UUID)))
	}
	_, err = s.Commit(t.Context(), node.Change{Delete: n.UUID})
	check(t, err)
	all, err := kept.List(t.Context(), "of_node", n.UUID)
	check(t, err)
	equal(t, node.EraseReportsKept, len(all))
	equal(t, uuid(10), all[0].UUID)
	_, err = kept.Find(t.Context(), another.UUID) // of the node that has one alone
	check(t, err)
}
