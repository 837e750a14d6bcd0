package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// Term is a time for which this conductor leads a group.
type Term struct {
	Group string
	Epoch int64
	// Over ends with the term: nothing is written from then on.
	Over context.Context //nolint:containedctx // the term's, not a caller's
	// Lost is called when the database has refused a write of this epoch.
	Lost func()
}

// named gives connections the name of the term, by which the next leader finds and ends them.
func (t *Term) named(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	config.RuntimeParams["application_name"] = termName(config.RuntimeParams["search_path"], t.Group, t.Epoch)
	return config
}

// during refuses to connect when the term is over. A leader that was stopped for a while would otherwise open its
// connections again, in addition to the next leader's.
func (t *Term) during(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if t.Over.Err() != nil {
			return nil, ErrSuperseded
		}
		return dial(ctx, network, address)
	}
	return config
}

// longestName is the longest name of a connection that PostgreSQL keeps, in bytes.
const longestName = 63

// termName is the application_name of connections of a term. Rooms that share a database have a schema each.
func termName(schemas, group string, epoch int64) string {
	name := strings.TrimSpace(fmt.Sprintf("ferrite epoch %d %s %s", epoch, group, schemas))
	if len(name) > longestName {
		name = fmt.Sprintf("ferrite epoch %d %x", epoch, sha256.Sum256([]byte(group+" "+schemas)))[:longestName]
	}
	return name
}

// frozenTime bounds how long a conductor that is frozen or cut off within a transaction keeps its locks. A takeover
// waits for them.
const frozenTime = 3 * time.Second

// termFence fences the writes of a term. It has no connection: the cluster watches over the database.
type termFence struct {
	of   *Term
	mu   sync.Mutex
	lost bool
}

func (f *termFence) term() (group string, epoch int64) { return f.of.Group, f.of.Epoch }

func (f *termFence) superseded() error {
	f.mu.Lock()
	first := !f.lost
	f.lost = true
	f.mu.Unlock()
	if first && f.of.Lost != nil {
		f.of.Lost()
	}
	return fmt.Errorf("%w; it leads the group %q since the epoch %d ended", ErrSuperseded, f.of.Group, f.of.Epoch)
}

func (f *termFence) look() {}

func (f *termFence) state() error {
	if f.of.Over.Err() != nil {
		return ErrSuperseded
	}
	return nil
}

func (f *termFence) over() context.Context { return f.of.Over }
func (f *termFence) close() error          { return nil }

// quickly has a connection end soon after its peer has: see frozenTime.
func quickly(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	limit := strconv.FormatInt(frozenTime.Milliseconds(), 10)
	config.RuntimeParams["idle_in_transaction_session_timeout"] = limit
	config.RuntimeParams["statement_timeout"] = limit
	config.RuntimeParams["tcp_user_timeout"] = limit
	config.ConnectTimeout = min(config.ConnectTimeout, frozenTime)
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: frozenTime, Interval: time.Second, Count: 3},
		Control: func(network, _ string, c syscall.RawConn) (err error) {
			if network != "tcp4" && network != "tcp6" {
				return nil
			}
			failed := c.Control(func(fd uintptr) {
				err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(frozenTime.Milliseconds()))
			})
			return errors.Join(failed, err)
		},
	}
	config.DialFunc = dialer.DialContext
	return config
}
