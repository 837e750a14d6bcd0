package crash

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// databaseVariable is the URL of a mortal conductor's PostgreSQL database, unset for SQLite.
const databaseVariable = "CONDUCTOR_DATABASE"

// inFolder is for conductors that have SQLite.
func inFolder(testing.TB) string { return "" }

// openServer opens a database on a server, by way of a socket within this process that can die amid a commit.
func (m *mortal) openServer(ctx context.Context, address string, o store.Options) (*store.Database, error) {
	between, near, err := listenBetween(address, m.cut.nth%2 == 0)
	if err != nil {
		return nil, err
	}
	m.dieOver = func(do func() string) {
		between.deadly.Store(true)
		do()  // a write without a commit changes nothing
		die() // amid its last words
	}
	return store.OpenPostgres(ctx, near, store.PostgresOptions{Options: o})
}

// socketBetween passes bytes between a store and its server.
type socketBetween struct {
	server string
	whole  bool        // the server gets the whole COMMIT, and otherwise a part
	deadly atomic.Bool // the next COMMIT is the last
}

// listenBetween returns the address of the database by way of the socket. It uses TCP, since a killed process leaves no
// file of a TCP socket behind.
func listenBetween(address string, whole bool) (s *socketBetween, near string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	q := u.Query()
	s = &socketBetween{server: filepath.Join(q.Get("host"), ".s.PGSQL.5432"), whole: whole}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go s.pass(client)
		}
	}()
	q.Del("host")
	q.Set("sslmode", "disable")
	u.Host = l.Addr().String()
	u.RawQuery = q.Encode()
	return s, u.String(), nil
}

func (s *socketBetween) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("unix", s.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() { _, _ = io.Copy(client, server) }()
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		dies := s.deadly.Load() && bytes.Contains(buffer[:n], []byte("COMMIT\x00"))
		if dies && !s.whole {
			n /= 2
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
		if dies {
			die()
		}
	}
}
