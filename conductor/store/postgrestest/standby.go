package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Standby starts a server that follows this one, and ends with the test. With synchronous, the first server
// acknowledges no commit before the standby has it.
func (s *Server) Standby(t testing.TB, synchronous bool) *Server {
	t.Helper()
	follower, err := s.follow()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := follower.close(); err != nil {
			t.Error(err)
		}
	})
	if synchronous {
		s.Run(t, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
	}
	s.await(t, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND (sync_state = 'sync') = "+
		fmt.Sprint(synchronous))
	return follower
}

func (s *Server) follow() (*Server, error) {
	dir, err := os.MkdirTemp("", "ferrite-postgres-")
	if err != nil {
		return nil, err
	}
	f := &Server{bin: s.bin, dir: dir}
	if os.Getuid() == 0 {
		err = os.Chown(dir, nobody, nobody)
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), startTime)
		defer cancel()
		out, failed := f.command(ctx, "pg_basebackup", "-D", f.data(), "-h", s.dir, "-U", "postgres", "-R", "-c", "fast",
			"--no-sync").CombinedOutput()
		if failed != nil {
			err = fmt.Errorf("pg_basebackup: %w: %s", failed, out)
		}
	}
	if err == nil {
		err = f.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return f, nil
}

// Run runs statements as the administrator does.
func (s *Server) Run(t testing.TB, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.address())
	for _, text := range statements {
		if err == nil {
			_, err = conn.Exec(t.Context(), text)
		}
	}
	if err == nil {
		err = conn.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until a query answers true.
func (s *Server) await(t testing.TB, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for end := time.Now().Add(startTime); ; time.Sleep(5 * time.Millisecond) {
		var so bool
		if err := conn.QueryRow(t.Context(), query).Scan(&so); err != nil || time.Now().After(end) {
			t.Fatalf("%s: %v after %v", query, err, startTime)
		}
		if so {
			return
		}
	}
}

// Promote makes a standby the server that writes.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.Run(t, "SELECT pg_promote(false)") // its snapshot could hold up the recovery that it would wait for
	s.await(t, "SELECT NOT pg_is_in_recovery()")
}

// AwaitStandby waits until the standby of this server has everything that is written.
func (s *Server) AwaitStandby(t testing.TB) {
	t.Helper()
	s.await(t, "SELECT coalesce(bool_and(replay_lsn >= pg_current_wal_lsn()), false) FROM pg_stat_replication")
}

// StopFollowing keeps later writes of the server from its standby.
func (s *Server) StopFollowing(t testing.TB) {
	t.Helper()
	s.Run(t, "ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
	s.await(t, "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
}

// Either is the address of a database of this server, or of the other one: of that which writes.
func (s *Server) Either(t testing.TB, address string, other *Server) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", s.dir+","+other.dir)
	q.Set("target_session_attrs", "read-write")
	u.RawQuery = q.Encode()
	return u.String()
}

// Of is the address of a database of this server, by its address on another one.
func (s *Server) Of(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", s.dir)
	u.RawQuery = q.Encode()
	return u.String()
}
