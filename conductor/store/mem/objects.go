package mem

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// documents are the documents of hosts.
type documents struct {
	rows     map[objects.Key]objects.Row
	revision int64
}

// Objects lists documents and returns the newest revision.
func (s *Store) Objects(ctx context.Context, q objects.Query) ([]objects.Row, int64, error) {
	if err := s.lock(ctx); err != nil {
		return nil, 0, err
	}
	defer s.mu.Unlock()
	var all []objects.Row
	for _, r := range s.objects.rows {
		if asked(q, r) {
			all = append(all, copyRow(r))
		}
	}
	slices.SortFunc(all, func(a, b objects.Row) int { return cmp.Or(byPlace(a.Key, b.Key), cmp.Compare(a.Kind, b.Kind)) })
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	bytes := 0
	for i, r := range all {
		if bytes += len(r.Doc); q.Bytes > 0 && bytes >= q.Bytes {
			all = all[:i+1]
			break
		}
	}
	return all, s.objects.revision, nil
}

func byPlace(a, b objects.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func asked(q objects.Query, r objects.Row) bool {
	is := func(want, is string) bool { return want == "" || want == is }
	return is(q.Kind, r.Kind) && is(q.Namespace, r.Namespace) && is(q.Name, r.Name) &&
		(q.Owner == "" || slices.Contains(r.Owners, q.Owner)) && (q.After == objects.Key{} || byPlace(r.Key, q.After) > 0)
}

func copyRow(r objects.Row) objects.Row {
	r.Owners, r.Doc = slices.Clone(r.Owners), bytes.Clone(r.Doc)
	return r
}

// WriteObjects does all writes or none.
func (s *Store) WriteObjects(ctx context.Context, writes []objects.Write, done func([]int64)) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	before := map[objects.Key]objects.Row{}
	revision := s.objects.revision
	var revisions []int64
	for _, w := range writes {
		was, exists := s.objects.rows[w.Key]
		if was.Revision != w.Expect || !w.Delete && s.uidTaken(w.Row) {
			s.restore(writes[:len(revisions)], before)
			return fmt.Errorf("write documents: %s: %w", w.Key, objects.ErrStale)
		}
		if _, again := before[w.Key]; exists && !again {
			before[w.Key] = was
		}
		revision++
		s.putRow(w, revision)
		revisions = append(revisions, revision)
	}
	s.objects.revision = revision
	s.events.add(node.EventsOf(ctx)...)
	done(revisions)
	return nil
}

func (s *Store) uidTaken(r objects.Row) bool {
	for k, other := range s.objects.rows {
		if k != r.Key && other.UID == r.UID {
			return true
		}
	}
	return false
}

func (s *Store) putRow(w objects.Write, revision int64) {
	if w.Delete {
		delete(s.objects.rows, w.Key)
		return
	}
	w.Revision = revision
	s.objects.rows[w.Key] = copyRow(w.Row)
}

// restore undoes the writes of a change that is refused.
func (s *Store) restore(written []objects.Write, before map[objects.Key]objects.Row) {
	for _, w := range written {
		if was, ok := before[w.Key]; ok {
			s.objects.rows[w.Key] = was
		} else {
			delete(s.objects.rows, w.Key)
		}
	}
}
