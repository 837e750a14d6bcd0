//go:build e2e

package scale

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// settings are PostgreSQL's for a measurement: it flushes, and vacuums, as any server does.
var settings = []string{
	"fsync=on", "full_page_writes=on", "autovacuum=on", "shared_buffers=1GB", "max_wal_size=2GB", "log_min_messages=error",
	"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_utility=on",
}

// cluster is three conductors and their database.
type cluster struct {
	t        *testing.T
	server   *postgrestest.Server
	database string
	members  []*member
	http     *http.Client
}

// newCluster makes a cluster that has not started yet; fill writes the content of its database.
func newCluster(t *testing.T, fill func(*store.Database) error, more ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, server: postgrestest.New(t, settings...), http: &http.Client{Timeout: time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	c.database = c.server.URL(t)
	c.execute("CREATE EXTENSION pg_stat_statements SCHEMA public")
	key := filepath.Join(t.TempDir(), "cluster-key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0123456789abcdef", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		c.members = append(c.members, newMember(t, i, c.database, key, more))
	}
	if fill != nil {
		c.fill(fill)
	}
	return c
}

// fill writes to the database with the key of the first member, which gives it to the others.
func (c *cluster) fill(write func(*store.Database) error) {
	c.t.Helper()
	dir := c.members[0].data()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	key, err := keys.OpenSecrets(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	ring, err := seal.NewRing(key)
	if err != nil {
		c.t.Fatal(err)
	}
	db, err := store.OpenPostgres(c.t.Context(), c.database, store.PostgresOptions{
		Options: store.Options{NoSync: true, Keys: ring},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := write(db); err != nil {
		c.t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) start() {
	c.t.Helper()
	for _, m := range c.members {
		m.Start()
	}
}

func (c *cluster) stop() {
	c.t.Helper()
	for _, m := range c.members {
		m.Signal(syscall.SIGTERM)
		m.End()
	}
}

// leader is the conductor that leads, as the database says; rows asks the database.
func (c *cluster) leader() *member {
	c.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var name string
		err := c.row("SELECT holder FROM leader WHERE conductor_group = '' AND until > clock_timestamp()", &name)
		if i := slices.IndexFunc(c.members, func(m *member) bool { return m.Name == name }); err == nil && i >= 0 {
			return c.members[i]
		}
	}
	c.t.Fatal("nobody leads")
	return nil
}

// followers are the others.
func (c *cluster) followers(of *member) []*member {
	return slices.DeleteFunc(slices.Clone(c.members), func(m *member) bool { return m == of })
}

func (c *cluster) row(text string, places ...any) error {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }() // it has answered
	return conn.QueryRow(c.t.Context(), text).Scan(places...)
}

func (c *cluster) execute(text string) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.database)
	if err == nil {
		_, err = conn.Exec(c.t.Context(), text)
		err = errors.Join(err, conn.Close(c.t.Context()))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// forget has the database count its statements anew.
func (c *cluster) forget() { c.execute("SELECT public.pg_stat_statements_reset()") }

// statements shows the statements that the database was busy with for the longest time since forget.
func (c *cluster) statements() {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.database)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }() // it has answered
	rows, err := conn.Query(c.t.Context(), `SELECT calls, total_exec_time, left(regexp_replace(query, '\s+', ' ', 'g'), 90)
		FROM public.pg_stat_statements ORDER BY total_exec_time DESC LIMIT 12`)
	if err != nil {
		c.t.Fatal(err)
	}
	var calls int64
	var took float64
	var text string
	_, err = pgx.ForEachRow(rows, []any{&calls, &took, &text}, func() error {
		fmt.Printf("statement: %7d times, %6.3f ms each, %6.2f s: %s\n", calls, took/float64(calls), took/1e3, text)
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
}
