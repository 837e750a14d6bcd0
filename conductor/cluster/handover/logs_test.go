package handover

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// logTerm is a term of the default group, and the keeper of its logs.
func logTerm(t *testing.T, rows *store.Members, address, name string) (*store.Database, *bootlog.Keeper) {
	t.Helper()
	time.Sleep(2 * time.Millisecond)
	epoch, ok, err := rows.Take(t.Context(), "", name, time.Millisecond)
	if err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	over, end := context.WithCancel(t.Context())
	db, err := store.OpenPostgres(t.Context(), address, store.PostgresOptions{
		Patience: time.Second, Term: &store.Term{Epoch: epoch, Over: over},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, bootlog.New(NewLogs(over, db), bootlog.Limits{Boots: 2, Bytes: 100 << 10})
}

// TestSharedLogs: the next leader reads the logs of machines from the last one, bounded as in files. They go with their
// node. A leader that was superseded adds nothing.
func TestSharedLogs(t *testing.T) {
	address := postgrestest.URL(t)
	rows, err := store.OpenMembers(t.Context(), address, store.PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	db, first := logTerm(t, rows, address, "a")
	const id = "11111111-2222-4333-8444-555555555555"
	boot := func(n int) string { return fmt.Sprintf("%016x", n) }
	if err := first.Append(id, boot(1), 0, []string{"of nobody"}); err == nil {
		t.Error("the log of a node that is not there was taken")
	}
	made := node.Change{Insert: &node.Node{UUID: id, ProvisionState: node.Enroll}}
	if _, err := db.Commit(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	add := func(k *bootlog.Keeper, n, from int, lines ...string) {
		t.Helper()
		if err := k.Append(id, boot(n), int64(from), lines); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(k *bootlog.Keeper, q nodeapi.LogQuery) string {
		t.Helper()
		var out strings.Builder
		if err := k.Stream(t.Context(), id, q, func(b []byte) error { out.Write(b); return nil }); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	add(first, 1, 0, "dropped")
	add(first, 2, 0, "one", "two")
	add(first, 2, 2, "three")
	long := make([]string, 40)
	for i := range long {
		long[i] = fmt.Sprintf("%d %s", i, strings.Repeat("x", 4000))
	}
	for i, line := range long {
		add(first, 3, i, line)
	}
	whole := shows(first, nodeapi.LogQuery{})
	if !strings.HasPrefix(whole, "(older lines are dropped)\n") || !strings.HasSuffix(whole, long[39]+"\n") ||
		len(whole) > 100<<10 || len(whole) < 60<<10 {
		t.Errorf("%d bytes: %.60q", len(whole), whole)
	}

	db, second := logTerm(t, rows, address, "b")
	if got := shows(second, nodeapi.LogQuery{}); got != whole {
		t.Errorf("the next leader shows %d bytes, want %d", len(got), len(whole))
	}
	if got := shows(second, nodeapi.LogQuery{Boot: 1}); got != "one\ntwo\nthree\n" {
		t.Errorf("%q", got)
	}
	if err := first.Append(id, boot(3), 40, []string{"late"}); err == nil {
		t.Error("a leader that was superseded has added to a log")
	}
	add(second, 3, 40, "goes on")
	if got := shows(second, nodeapi.LogQuery{Tail: 1}); got != "goes on\n" {
		t.Errorf("%q", got)
	}
	if _, err := db.Commit(t.Context(), node.Change{Delete: id}); err != nil {
		t.Fatal(err)
	}
	if left, err := db.BootLogs(t.Context(), id); err != nil || len(left) > 0 {
		t.Errorf("%+v, %v are left", left, err)
	}
	if err := second.Forget(id); err != nil {
		t.Error(err)
	}
}
