package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

var simPostgres = flag.Int("sim.postgres", 1, "how many seeds the simulation tries on PostgreSQL")

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// TestSimulationOnPostgres is the same with conductors that take turns on one database. A frozen one is cut off from
// it, and comes back beside its successor: nothing that it writes then is accepted. The server is real, and time stands
// still while it is asked.
func TestSimulationOnPostgres(t *testing.T) {
	addresses := map[uint64]string{}
	for seed := *simSeed; seed < *simSeed+uint64(*simPostgres); seed++ {
		addresses[seed] = postgrestest.URL(t)
	}
	var refused atomic.Int64
	simulateAll(t, *simPostgres, func(t *testing.T, seed uint64) *enginetest.World {
		w := enginetest.New(t, seed)
		turns := &turns{t: t, address: addresses[seed], refused: &refused}
		w.Open = turns.open
		w.Store = nil
		return w
	})
	t.Logf("%d writes of conductors that came back were refused", refused.Load())
	if refused.Load() == 0 {
		t.Error("no conductor came back beside its successor: the simulation does not try it")
	}
}

// turns opens one database for one conductor after the other, each with a role of its own.
type turns struct {
	t       *testing.T
	address string
	lives   int
	refused *atomic.Int64
}

// command runs statements as the administrator does.
func (u *turns) command(statements ...string) {
	u.t.Helper()
	conn, err := pgx.Connect(context.Background(), u.address)
	for _, s := range statements {
		if err == nil {
			_, err = conn.Exec(context.Background(), s)
		}
	}
	if err == nil {
		err = conn.Close(context.Background())
	}
	if err != nil {
		u.t.Fatal(err)
	}
}

func (u *turns) open() enginetest.OpenedStore {
	u.t.Helper()
	at, err := url.Parse(u.address)
	if err != nil {
		u.t.Fatal(err)
	}
	u.lives++
	role := fmt.Sprintf("%s_%d", at.Query().Get("search_path"), u.lives)
	u.command("CREATE ROLE " + role + " SUPERUSER LOGIN")
	at.User = url.User(role)
	db, err := store.OpenPostgres(context.Background(), at.String(), store.PostgresOptions{})
	if err != nil {
		u.t.Fatal(err)
	}
	return enginetest.OpenedStore{
		Store: db,
		Cut: func() {
			u.command("ALTER ROLE "+role+" NOLOGIN",
				"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '"+role+"'")
		},
		Heal: func() {
			u.command("ALTER ROLE " + role + " LOGIN")
			u.writeLate(db)
		},
	}
}

// writeLate writes as a conductor does that does not know that it has a successor.
func (u *turns) writeLate(db *store.Database) {
	u.t.Helper()
	all, err := db.Nodes(context.Background(), node.Query{Limit: 1})
	if err != nil || len(all) == 0 {
		u.t.Fatalf("%d nodes, %v", len(all), err)
	}
	if _, err := db.Commit(context.Background(), node.Change{Save: &all[0]}); !errors.Is(err, store.ErrSuperseded) {
		u.t.Errorf("a late write ended with %v, want %v", err, store.ErrSuperseded)
	}
	u.refused.Add(1)
}
