package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func document(namespace, name string, owners ...string) objects.Write {
	return objects.Write{Row: objects.Row{
		Key: objects.Key{Kind: "Host", Namespace: namespace, Name: name}, UID: "uid-of-" + namespace + "-" + name,
		Owners: owners, Doc: []byte{0, 255, 'x'},
	}}
}

func writeObjects(t *testing.T, s store.Store, writes ...objects.Write) (revisions []int64, err error) {
	t.Helper()
	err = s.WriteObjects(t.Context(), writes, func(r []int64) { revisions = slices.Clone(r) })
	return revisions, err
}

func places(rows []objects.Row) (all []string) {
	for _, r := range rows {
		all = append(all, r.Namespace+"/"+r.Name)
	}
	return all
}

// testObjects writes documents, each under the next revision and only over the expected one.
func testObjects(t *testing.T, s store.Store) {
	rows, revision, err := s.Objects(t.Context(), objects.Query{})
	check(t, err)
	equal(t, 0, len(rows))
	equal(t, int64(0), revision)

	a := document("b", "a", "o1", "o2")
	revisions, err := writeObjects(t, s, a, document("a", "z"))
	check(t, err)
	equal(t, []int64{1, 2}, revisions)
	_, err = writeObjects(t, s, a)
	wants(t, err, objects.ErrStale)
	twin := document("b", "twin")
	twin.UID = a.UID
	_, err = writeObjects(t, s, twin)
	wants(t, err, objects.ErrStale)

	a.Expect, a.Doc, a.Owners = 1, []byte("new"), nil
	revisions, err = writeObjects(t, s, a)
	check(t, err)
	equal(t, []int64{3}, revisions)
	_, err = writeObjects(t, s, a)
	wants(t, err, objects.ErrStale)
	rows, revision, err = s.Objects(t.Context(), objects.Query{Kind: "Host", Namespace: "b", Name: "a"})
	check(t, err)
	equal(t, int64(3), revision)
	a.Revision = 3
	equal(t, []objects.Row{a.Row}, rows)

	a.Delete, a.Expect = true, 2
	_, err = writeObjects(t, s, a)
	wants(t, err, objects.ErrStale)
	a.Expect = 3
	revisions, err = writeObjects(t, s, a)
	check(t, err)
	equal(t, []int64{4}, revisions)
	_, err = writeObjects(t, s, a)
	wants(t, err, objects.ErrStale)
	rows, revision, err = s.Objects(t.Context(), objects.Query{})
	check(t, err)
	equal(t, []string{"a/z"}, places(rows))
	equal(t, int64(4), revision)
}

// testObjectsAtomic: of writes that are made together, all are done or none, and
// no revision is lost.
func testObjectsAtomic(t *testing.T, s store.Store) {
	_, err := writeObjects(t, s, document("a", "old"))
	check(t, err)
	old := document("a", "old")
	old.Expect, old.Doc = 1, []byte("changed")
	gone := document("a", "gone")
	gone.Delete, gone.Expect = true, 7
	_, err = writeObjects(t, s, old, document("a", "new"), gone)
	wants(t, err, objects.ErrStale)
	rows, revision, err := s.Objects(t.Context(), objects.Query{})
	check(t, err)
	equal(t, []string{"a/old"}, places(rows))
	equal(t, []byte{0, 255, 'x'}, rows[0].Doc)
	equal(t, int64(1), revision)
	revisions, err := writeObjects(t, s, document("a", "new"))
	check(t, err)
	equal(t, []int64{2}, revisions)
}

// testObjectQueries finds documents by each field of a query, page by page.
func testObjectQueries(t *testing.T, s store.Store) {
	secret := document("a", "m", "o1")
	secret.Kind, secret.UID = "Secret", "other"
	_, err := writeObjects(t, s, document("b", "a"), document("a", "z", "o1", "o2"), document("a", "b", "o12"), secret)
	check(t, err)
	for name, c := range map[string]struct {
		q    objects.Query
		want []string
	}{
		"all":              {objects.Query{}, []string{"a/b", "a/m", "a/z", "b/a"}},
		"kind":             {objects.Query{Kind: "Host"}, []string{"a/b", "a/z", "b/a"}},
		"namespace":        {objects.Query{Kind: "Host", Namespace: "a"}, []string{"a/b", "a/z"}},
		"name":             {objects.Query{Kind: "Host", Name: "a"}, []string{"b/a"}},
		"owner":            {objects.Query{Namespace: "a", Owner: "o1"}, []string{"a/m", "a/z"}},
		"owner, elsewhere": {objects.Query{Namespace: "b", Owner: "o1"}, nil},
		"a page":           {objects.Query{Kind: "Host", Limit: 2}, []string{"a/b", "a/z"}},
		"the next": {objects.Query{Kind: "Host", Limit: 2, After: objects.Key{Namespace: "a", Name: "z"}},
			[]string{"b/a"}},
		"behind one gone": {objects.Query{Kind: "Host", After: objects.Key{Namespace: "a", Name: "c"}},
			[]string{"a/z", "b/a"}},
		"none": {objects.Query{Kind: "host"}, nil},
	} {
		rows, revision, err := s.Objects(t.Context(), c.q)
		check(t, err)
		if !slices.Equal(places(rows), c.want) {
			t.Errorf("%s: got %v, want %v", name, places(rows), c.want)
		}
		equal(t, int64(4), revision)
	}
}

// testObjectOrder: callbacks get writes in the order of their revisions, without a gap, also with concurrent writers.
func testObjectOrder(t *testing.T, s store.Store) {
	const writers, each = 8, 25
	var order []int64
	var all sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		all.Go(func() {
			for i := range each {
				d := document("n", fmt.Sprintf("%d-%d", w, i))
				if i%5 == 4 { // these are refused
					d.Expect = 99999
				}
				err := s.WriteObjects(t.Context(), []objects.Write{d}, func(r []int64) { order = append(order, r...) })
				if (err != nil) != (i%5 == 4) || err != nil && !errors.Is(err, objects.ErrStale) {
					errs <- fmt.Errorf("write %d of %d: %w", i, w, err)
				}
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	equal(t, writers*each/5*4, len(order))
	for i, r := range order {
		if r != int64(i+1) {
			t.Fatalf("the %d. write reported has the revision %d", i+1, r)
		}
	}
}
