package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func claim(t *testing.T, s store.Store, owner string, now time.Time, limit int) []node.Effect {
	t.Helper()
	got, err := Claim(t.Context(), s, owner, now, 30*time.Second, limit)
	check(t, err)
	return got
}

// Claim leases at most limit effects that are due, the longest due first.
func Claim(
	ctx context.Context, s Claimer, owner string, now time.Time, lease time.Duration, limit int,
) ([]node.Effect, error) {
	waiting, err := s.Unclaimed(ctx, now)
	if err != nil {
		return nil, err
	}
	var nodes []string
	for _, e := range waiting {
		if len(nodes) < limit && !e.RunAt.After(now) {
			nodes = append(nodes, e.Node)
		}
	}
	return s.Claim(ctx, owner, now, lease, nodes)
}

// Claimer is the part of a store that Claim needs.
type Claimer interface {
	Unclaimed(ctx context.Context, now time.Time) ([]node.Effect, error)
	Claim(ctx context.Context, owner string, now time.Time, lease time.Duration, nodes []string) ([]node.Effect, error)
}

func names(effects []node.Effect) []string {
	var all []string
	for _, e := range effects {
		all = append(all, e.Name)
	}
	return all
}

func testClaim(t *testing.T, s store.Store) {
	for i, sec := range []int{5, 3, 5, 60} {
		insert(t, s, sample(i), effect(i, string(rune('a'+i)), at(sec)))
	}
	insert(t, s, sample(9), effect(9, "at once", time.Time{}))
	equal(t, 0, len(claim(t, s, "me", at(10), 0)))
	first := claim(t, s, "me", at(10), 2)
	equal(t, []string{"at once", "b"}, names(first))
	want := effect(1, "b", at(3))
	want.ID, want.Owner, want.Attempt, want.LeaseUntil = first[1].ID, "me", 1, at(40)
	equal(t, want, first[1])
	equal(t, []string{"a", "c"}, names(claim(t, s, "other", at(10), 9)))
	equal(t, 0, len(claim(t, s, "me", at(39), 9)))

	again := claim(t, s, "other", at(40), 9) // the leases have run out
	equal(t, []string{"at once", "b", "a", "c"}, names(again))
	equal(t, 2, again[1].Attempt)
}

// testFence plays a conductor that was presumed dead and comes back.
func testFence(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1), effect(1, "x", at(0)))
	zombie := claim(t, s, "zombie", at(0), 1)[0]
	heir := claim(t, s, "heir", at(31), 1)[0]
	n.Name = "by the zombie"
	_, err := s.Commit(t.Context(), node.Change{Finish: &zombie, Save: &n})
	wants(t, err, node.ErrFenced)
	wants(t, s.Renew(t.Context(), zombie, at(99)), node.ErrFenced)
	wants(t, s.Release(t.Context(), zombie, at(99), "late"), node.ErrFenced)
	wants(t, s.Note(t.Context(), zombie), node.ErrFenced)

	n.Name = "by the heir"
	n, err = s.Commit(t.Context(), node.Change{Finish: &heir, Save: &n, Effects: []node.Effect{effect(1, "y", at(0))}})
	check(t, err)
	equal(t, "by the heir", n.Name)
	_, err = s.Commit(t.Context(), node.Change{Finish: &heir})
	wants(t, err, node.ErrFenced)
	next := claim(t, s, "heir", at(31), 1)[0]
	if next.ID == heir.ID {
		t.Errorf("effect id %d was used twice", next.ID)
	}
	same := next // the same owner, an attempt of an earlier life
	same.Attempt--
	_, err = s.Commit(t.Context(), node.Change{Finish: &same})
	wants(t, err, node.ErrFenced)
}

func testLease(t *testing.T, s store.Store) {
	for i := range 3 {
		insert(t, s, sample(i), effect(i, string(rune('a'+i)), at(0)))
	}
	mine := claim(t, s, "me", at(0), 2)
	others := claim(t, s, "other", at(0), 1)

	check(t, s.Renew(t.Context(), mine[0], at(100)))
	pending, err := s.PendingEffect(t.Context(), uuid(0))
	check(t, err)
	equal(t, at(100), pending.LeaseUntil)
	equal(t, []string{"b", "c"}, names(claim(t, s, "third", at(50), 9)))

	noted := mine[0]
	noted.Accepted, noted.Error = map[string]time.Time{"reboot": at(3)}, "no state"
	check(t, s.Note(t.Context(), noted))
	pending, err = s.PendingEffect(t.Context(), uuid(0))
	check(t, err)
	equal(t, noted.Accepted, pending.Accepted)
	equal(t, noted.Error, pending.Error)

	check(t, s.Release(t.Context(), mine[0], at(70), "no answer"))
	pending, err = s.PendingEffect(t.Context(), uuid(0))
	check(t, err)
	want := effect(0, "a", at(70))
	want.ID, want.Attempt, want.Error, want.Accepted = mine[0].ID, 1, "no answer", noted.Accepted
	equal(t, &want, pending)
	equal(t, 0, len(claim(t, s, "me", at(69), 9)))

	n, err := s.Takeover(t.Context(), "third", at(50))
	check(t, err)
	equal(t, 2, n)
	n, err = s.Takeover(t.Context(), "", at(50))
	check(t, err)
	equal(t, 0, n)
	wants(t, s.Renew(t.Context(), others[0], at(99)), node.ErrFenced)
	got := claim(t, s, "third", at(50), 9)
	equal(t, []string{"b", "c"}, names(got))
	equal(t, 3, got[0].Attempt)
	equal(t, []string{"a"}, names(claim(t, s, "me", at(70), 1)))

	// The clock was set back by days: an effect due in days is due at once, and an effect due soon is not.
	insert(t, s, sample(5), effect(5, "soon", at(100)))
	insert(t, s, sample(6), effect(6, "in days", at(8*24*3600)))
	_, err = s.Takeover(t.Context(), "third", at(60))
	check(t, err)
	equal(t, []string{"b", "c", "in days"}, names(claim(t, s, "me", at(60), 9)))
}

// testHurry brings forward the unclaimed effect of the saved node.
func testHurry(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1), effect(1, "x", at(500)))
	insert(t, s, sample(2), effect(2, "y", at(500)))
	stale := n
	stale.Revision--
	_, err := s.Commit(t.Context(), node.Change{Save: &stale, Hurry: true})
	wants(t, err, node.ErrStale)
	equal(t, 0, len(claim(t, s, "me", at(0), 9)))

	n, err = s.Commit(t.Context(), node.Change{Save: &n, Hurry: true})
	check(t, err)
	got := claim(t, s, "me", at(0), 9)
	equal(t, []string{"x"}, names(got))

	n, err = s.Commit(t.Context(), node.Change{Save: &n, Hurry: true}) // a worker has claimed it
	check(t, err)
	check(t, s.Renew(t.Context(), got[0], at(100)))
	n, err = s.Commit(t.Context(), node.Change{Finish: &got[0], Save: &n, Hurry: true,
		Effects: []node.Effect{effect(1, "z", at(500))}})
	check(t, err)
	equal(t, 0, len(claim(t, s, "me", at(0), 9))) // a new effect keeps its time
	_, err = s.Commit(t.Context(), node.Change{Save: &n, Hurry: true})
	check(t, err)
	equal(t, []string{"z"}, names(claim(t, s, "me", at(0), 9)))
}

func testOneEffect(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1), effect(1, "x", at(0)))
	_, err := s.Commit(t.Context(), node.Change{Effects: []node.Effect{effect(1, "y", at(0))}})
	wants(t, err, node.ErrConflict)
	_, err = s.Commit(t.Context(), node.Change{Effects: []node.Effect{effect(2, "y", at(0))}})
	wants(t, err, node.ErrNotFound)
	held := claim(t, s, "me", at(0), 1)[0]
	given := effect(1, "y", at(5)) // the store ignores these fields
	given.ID, given.Owner, given.Attempt, given.LeaseUntil, given.Error = 7, "x", 9, at(99), "x"
	_, err = s.Commit(t.Context(), node.Change{Finish: &held, Save: &n, Effects: []node.Effect{given}})
	check(t, err)
	pending, err := s.PendingEffect(t.Context(), n.UUID)
	check(t, err)
	want := effect(1, "y", at(5))
	want.ID = pending.ID
	equal(t, &want, pending)
	insert(t, s, sample(3))
	n = insert(t, s, sample(4), effect(4, "z", at(9)))
	owners, err := s.NodesWithEffects(t.Context())
	check(t, err)
	slices.Sort(owners)
	equal(t, []string{uuid(1), uuid(4)}, owners)
	_, err = s.Commit(t.Context(), node.Change{Delete: n.UUID})
	check(t, err)
	owners, err = s.NodesWithEffects(t.Context())
	check(t, err)
	equal(t, []string{uuid(1)}, owners)
}

func testUnclaimed(t *testing.T, s store.Store) {
	unclaimed := func(now time.Time) []node.Effect {
		t.Helper()
		all, err := s.Unclaimed(t.Context(), now)
		check(t, err)
		return all
	}
	equal(t, 0, len(unclaimed(at(0))))
	insert(t, s, sample(1), effect(1, "x", at(20)))
	insert(t, s, sample(2), effect(2, "y", at(10).Add(1500)))
	insert(t, s, sample(3))
	all := unclaimed(at(0)) // those that are not due as well
	equal(t, []string{"y", "x"}, names(all))
	equal(t, node.Effect{ID: all[0].ID, Node: uuid(2), Name: "y", RunAt: at(10).Add(time.Microsecond)}, all[0])

	got, err := s.Claim(t.Context(), "me", at(10), time.Minute, []string{uuid(1), uuid(2), uuid(3), uuid(9)})
	check(t, err)
	equal(t, 0, len(got)) // not due
	got, err = s.Claim(t.Context(), "me", at(21), time.Minute, []string{uuid(1), uuid(3), uuid(1)})
	check(t, err)
	equal(t, []string{"x"}, names(got))
	equal(t, []string{"y"}, names(unclaimed(at(21))))
	got, err = s.Claim(t.Context(), "me", at(21), time.Minute, []string{uuid(1), uuid(2)})
	check(t, err)
	equal(t, []string{"y"}, names(got)) // the other is held
	equal(t, 0, len(unclaimed(at(80))))
	equal(t, []string{"y", "x"}, names(unclaimed(at(81)))) // the leases have run out
}
