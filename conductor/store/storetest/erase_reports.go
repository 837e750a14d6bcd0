package storetest

import (
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func eraseReport(n int, of string) node.EraseReport {
	return node.EraseReport{Record: record(n), NodeUUID: of, NodeName: "n", Failed: n%2 == 0, Payload: []byte(`{"a":1}`),
		Signature: []byte{0, 255}}
}

// testEraseReports keeps the proof of an erase: with its node or not at all, and longer than the node, but only a
// number of reports.
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

// testEraseReportList pages through the reports of all nodes, of some, and of a project's.
func testEraseReportList(t *testing.T, s store.Store) {
	owned, lent := sample(1), sample(2)
	owned.Owner, owned.Lessee, lent.Owner, lent.Lessee = "blue", "", "red", "blue"
	a, b, gone := insert(t, s, owned), insert(t, s, lent), insert(t, s, sample(3))
	for i, of := range []string{a.UUID, b.UUID, gone.UUID, a.UUID, b.UUID} {
		r := eraseReport(10+i, of)
		_, err := s.Commit(t.Context(), node.Change{PutEraseReport: &r})
		check(t, err)
	}
	_, err := s.Commit(t.Context(), node.Change{Delete: gone.UUID})
	check(t, err)
	for name, c := range map[string]struct {
		query node.EraseReportQuery
		want  []int
	}{
		"all":                    {node.EraseReportQuery{}, []int{10, 11, 12, 13, 14}},
		"the newest":             {node.EraseReportQuery{Desc: true, Limit: 2}, []int{14, 13}},
		"a page":                 {node.EraseReportQuery{Marker: uuid(11), Limit: 2}, []int{12, 13}},
		"an older page":          {node.EraseReportQuery{Marker: uuid(12), Limit: 9, Desc: true}, []int{11, 10}},
		"after the last":         {node.EraseReportQuery{Marker: uuid(14)}, nil},
		"of a node":              {node.EraseReportQuery{NodeUUID: b.UUID}, []int{11, 14}},
		"of one that is no more": {node.EraseReportQuery{NodeUUID: gone.UUID}, []int{12}},
		"of none":                {node.EraseReportQuery{NodeUUID: uuid(98)}, nil},
		"after another's":        {node.EraseReportQuery{NodeUUID: b.UUID, Marker: uuid(12)}, []int{14}},
		"a project's":            {node.EraseReportQuery{Project: "blue"}, []int{10, 11, 13, 14}},
		"an owner's alone":       {node.EraseReportQuery{Project: "red"}, []int{11, 14}},
		"of a project, paged":    {node.EraseReportQuery{Project: "blue", Marker: uuid(11), Limit: 1}, []int{13}},
		"another project's":      {node.EraseReportQuery{Project: "green"}, nil},
	} {
		got, err := s.EraseReports(t.Context(), c.query)
		check(t, err)
		var want, have []string
		for _, n := range c.want {
			want = append(want, uuid(n))
		}
		for _, r := range got {
			have = append(have, r.UUID)
		}
		if !slices.Equal(want, have) {
			t.Errorf("%s: %v, want %v", name, have, want)
		}
	}
	_, err = s.EraseReports(t.Context(), node.EraseReportQuery{Marker: uuid(99)})
	wants(t, err, node.ErrNotFound)
}
