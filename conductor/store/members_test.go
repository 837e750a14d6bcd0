package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// term opens the store of a term.
func term(t *testing.T, address, group string, epoch int64) *store.Database {
	t.Helper()
	over, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return openPostgres(t, address, store.PostgresOptions{
		Patience: time.Second, Term: &store.Term{Group: group, Epoch: epoch, Over: over},
	})
}

// openMembers opens the rows of a cluster until the end of the test.
func openMembers(t *testing.T, address string) *store.Members {
	t.Helper()
	m, err := store.OpenMembers(t.Context(), address, store.PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// take takes a group for a moment.
func take(t *testing.T, m *store.Members, group, member string) (epoch int64) {
	t.Helper()
	epoch, ok, err := m.Take(t.Context(), group, member, time.Millisecond)
	if err != nil || !ok {
		t.Fatalf("%s takes %q: %t, %v", member, group, ok, err)
	}
	time.Sleep(5 * time.Millisecond)
	return epoch
}

// TestTakeEndsConnections: a takeover of a group ends the connections of its last leader, and no others.
func TestTakeEndsConnections(t *testing.T) {
	address := postgrestest.URL(t)
	m := openMembers(t, address)
	last, other := take(t, m, "", "a"), take(t, m, "rack", "a")
	terms := map[string]*store.Database{"": term(t, address, "", last), "rack": term(t, address, "rack", other)}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	count := func(group string, epoch int64) (n int) {
		t.Helper()
		const text = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1"
		name := fmt.Sprintf("ferrite epoch %d %s %s", epoch, group, conn.Config().RuntimeParams["search_path"])
		if err := conn.QueryRow(t.Context(), text, name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for group, s := range terms {
		if _, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: "n-" + group, ConductorGroup: group,
			ProvisionState: node.Enroll}}); err != nil {
			t.Fatal(err)
		}
	}
	if count("", last) == 0 || count("rack", other) == 0 {
		t.Fatal("the terms have no connections")
	}
	take(t, m, "", "b")
	for end := time.Now().Add(10 * time.Second); count("", last) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections of the last leader are left", count("", last))
		}
	}
	if count("rack", other) == 0 {
		t.Error("the connections of another group have ended, too")
	}
}

// TestShare: a room has 32 connections, and a leader enough to work with.
func TestShare(t *testing.T) {
	for _, tc := range []struct{ members, groups, want int }{{1, 1, 26}, {2, 1, 23}, {3, 1, 20}, {3, 2, 10}, {8, 3, 6}} {
		if got := store.Share(tc.members, tc.groups); got != tc.want {
			t.Errorf("%d members, %d groups: %d, want %d", tc.members, tc.groups, got, tc.want)
		}
	}
}

// TestTermOverConnectsNoMore: a leader that knows its time is over opens no connection.
func TestTermOverConnectsNoMore(t *testing.T) {
	address := postgrestest.URL(t)
	m := openMembers(t, address)
	epoch := take(t, m, "", "last")
	over, end := context.WithCancel(t.Context())
	defer end()
	last := openPostgres(t, address, store.PostgresOptions{
		Patience: time.Second, Term: &store.Term{Epoch: epoch, Over: over},
	})
	if _, err := last.Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	end()
	take(t, m, "", "next") // ends its connections
	if _, err := last.Hold(t.Context()); !errors.Is(err, store.ErrSuperseded) {
		t.Errorf("it reads with %v, expected that it is superseded", err)
	}
}

// TestTakeFromABusyLeader: a leader that does not know its time is over connects again and again. A takeover does not
// wait for that.
func TestTakeFromABusyLeader(t *testing.T) {
	address := postgrestest.URL(t)
	m := openMembers(t, address)
	last := term(t, address, "", take(t, m, "", "last"))
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for ctx.Err() == nil {
				_, _ = last.Hold(ctx) // its connection may end meanwhile
			}
		})
	}
	defer busy.Wait()
	defer stop()
	time.Sleep(50 * time.Millisecond)
	within, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, ok, err := m.Take(within, "", "next", time.Millisecond); err != nil || !ok {
		t.Errorf("the next one takes the group: %t, %v", ok, err)
	}
}

// TestOldMembers: a conductor that was not seen for 30 days is forgotten when the next one starts, unless drained.
func TestOldMembers(t *testing.T) {
	address := postgrestest.URL(t)
	m := openMembers(t, address)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for name, sql := range map[string]string{ // of its row
		"gone": "seen = now() - interval '31 days', created = now() - interval '90 days'",
		"left": "seen = '-infinity', created = now() - interval '31 days'",
		"idle": "seen = now() - interval '29 days', created = now() - interval '90 days'",
		"kept": "drained = true, seen = now() - interval '31 days', created = now() - interval '90 days'",
	} {
		if _, err := m.Beat(t.Context(), store.Member{Name: name, Instance: "1"}); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "UPDATE members SET "+sql+" WHERE name = $1", name); err != nil {
			t.Fatal(err)
		}
	}
	openMembers(t, address)
	left, _, err := m.Look(t.Context())
	if err != nil || len(left) != 2 || left[0].Name != "idle" || left[1].Name != "kept" {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// TestImageDigests: a member knows the digests of all images, but none while a restore is held: images that are there
// may be missing from the backup.
func TestImageDigests(t *testing.T) {
	address := postgrestest.URL(t)
	m := openMembers(t, address)
	db := term(t, address, "", take(t, m, "", "a"))
	for i, digest := range []string{"sha256:aa", "sha256:bb", "sha256:aa"} {
		image := node.Image{Record: node.Record{UUID: uuid.NewString()}, Name: fmt.Sprint("os-", i), Digest: digest}
		if _, err := db.Catalogs().Images.Insert(t.Context(), image); err != nil {
			t.Fatal(err)
		}
	}
	digests, err := m.ImageDigests(t.Context())
	if slices.Sort(digests); err != nil || !slices.Equal(digests, []string{"sha256:aa", "sha256:bb"}) {
		t.Errorf("%q, %v", digests, err)
	}
	if err := db.SetHold(t.Context(), node.RestoreHold{Since: time.Now(), Backup: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if digests, err := m.ImageDigests(t.Context()); !errors.Is(err, store.ErrHeld) {
		t.Errorf("held: %q, %v", digests, err)
	}
}

// TestDatabaseClockSet: the database's clock is set by eight days. A living leader is not superseded. A dead one is
// followed, and a conductor that died starts again under its name.
func TestDatabaseClockSet(t *testing.T) {
	for _, jump := range []string{"- interval '8 days'", "+ interval '8 days'"} { // rows are older or newer than they were
		address := postgrestest.URL(t)
		m := openMembers(t, address)
		set := func() {
			t.Helper()
			conn, err := pgx.Connect(t.Context(), address)
			if err == nil {
				_, err = conn.Exec(t.Context(), "UPDATE leader SET until = until "+jump+"; UPDATE members SET seen = seen "+jump)
			}
			if err == nil {
				err = conn.Close(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		const hold = 6 * time.Second
		epoch, ok, err := m.Take(t.Context(), "", "a", hold)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if _, err := m.Beat(t.Context(), store.Member{Name: "a", Instance: "1"}); err != nil {
			t.Fatal(err)
		}
		set()
		if err := m.Renew(t.Context(), "", epoch, hold); err != nil {
			t.Errorf("rows %s: the leader lives, and is superseded: %v", jump, err)
		}
		if _, ok, err := m.Take(t.Context(), "", "b", hold); err != nil || ok {
			t.Errorf("rows %s: the leader lives, and is followed: %v", jump, err)
		}
		set() // and it dies
		if _, err := m.Beat(t.Context(), store.Member{Name: "a", Instance: "2"}); err != nil {
			t.Errorf("rows %s: it cannot start again: %v", jump, err)
		}
		next, ok, err := m.Take(t.Context(), "", "b", hold)
		if err != nil || !ok || next != epoch+1 {
			t.Errorf("rows %s: a leader that died is not followed: %d, %t, %v", jump, next, ok, err)
		}
		if err := m.Renew(t.Context(), "", epoch, hold); !errors.Is(err, store.ErrSuperseded) {
			t.Errorf("rows %s: it was followed, and renews its lease: %v", jump, err)
		}
	}
}

// TestCopiedFolder: a conductor with a copy of another one's data folder is refused as long as that one lives, and a
// restart takes its name back before that one counts as gone.
func TestCopiedFolder(t *testing.T) {
	address := postgrestest.URL(t)
	first, err := store.OpenMembers(t.Context(), address, store.PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second := openMembers(t, address)
	beat := func(m *store.Members, instance string) error {
		_, err := m.Beat(t.Context(), store.Member{Name: "c1", Instance: instance})
		return err
	}
	if err := beat(first, "folder one"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := beat(second, "folder two"); !errors.Is(err, store.ErrFolderTaken) {
			t.Errorf("a copy beside it: %v", err)
		}
		if err := beat(first, "folder one"); err != nil {
			t.Errorf("the first goes on: %v", err)
		}
	}
	if err := beat(second, "other two"); !errors.Is(err, store.ErrNameTaken) || errors.Is(err, store.ErrFolderTaken) {
		t.Errorf("another folder beside it: %v", err)
	}
	if err := errors.Join(second.Leave(t.Context(), "c1", "folder two"), beat(first, "folder one")); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil { // without Leave, as kill -9
		t.Fatal(err)
	}
	if err := beat(second, "other two"); !errors.Is(err, store.ErrNameTaken) {
		t.Errorf("another folder, right after it: %v", err)
	}
	// The database gives back the lock of a connection that was cut in its own time.
	err = beat(second, "folder two")
	for began := time.Now(); errors.Is(err, store.ErrFolderTaken) && time.Since(began) < store.AliveFor/2; {
		time.Sleep(10 * time.Millisecond)
		err = beat(second, "folder two")
	}
	if err != nil {
		t.Errorf("the restart: %v", err)
	}
}
