//go:build cluster

package history

import (
	"fmt"
	"syscall"
	"time"
)

// trouble is a fault of a conductor; cure ends it. lasts is the time between the two.
type trouble struct {
	kind  string // of its figure
	name  string
	cause func(w *world, m *member)
	cure  func(w *world, m *member)
	lasts time.Duration
	apart bool // the leader goes on leading, and its clients are served
}

func freezing(lasts time.Duration) trouble {
	kind := "frozen"
	if lasts < 5*time.Second {
		kind = "moment"
	}
	return trouble{
		kind: kind, name: fmt.Sprintf("frozen for %s", lasts),
		cause: func(_ *world, m *member) { m.Signal(syscall.SIGSTOP) }, cure: func(_ *world, m *member) {
			m.Signal(syscall.SIGCONT)
			m.Ready()
		}, lasts: lasts,
	}
}

// moment is the length of a freeze: short, or by chance so long that the leadership is about to expire at its end.
func (w *world) moment(nth int) time.Duration {
	if nth%4 == 0 {
		return time.Duration(200+w.chance.IntN(1800)) * time.Millisecond
	}
	return time.Duration(3500+w.chance.IntN(4000)) * time.Millisecond
}

var (
	killed = trouble{
		kind: "killed", name: "killed", cause: func(_ *world, m *member) { m.Signal(syscall.SIGKILL) },
		cure: (*world).again, lasts: 2 * time.Second,
	}
	ended = trouble{
		kind: "stopped", name: "stopped", cause: func(_ *world, m *member) { m.Signal(syscall.SIGTERM) },
		cure: (*world).again, lasts: 2 * time.Second,
	}
	refused = trouble{
		kind: "refused", name: "refused by the database", cause: func(w *world, m *member) {
			w.command("ALTER ROLE "+m.role+" NOLOGIN",
				"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '"+m.role+"'")
		}, cure: func(w *world, m *member) {
			w.command("ALTER ROLE " + m.role + " LOGIN")
			m.Ready()
		}, lasts: 10 * time.Second,
	}
	cutOff = trouble{
		kind: "cut", name: "cut off from the database", cause: func(_ *world, m *member) { m.network.cut() },
		cure: func(_ *world, m *member) {
			m.network.mend()
			m.Ready()
		}, lasts: 10 * time.Second,
	}
	apart = trouble{
		kind: "apart", name: "cut off from the other conductors",
		cause: func(w *world, m *member) { w.route("add", m) }, cure: func(w *world, m *member) { w.route("del", m) },
		lasts: 10 * time.Second, apart: true,
	}
	restart = trouble{
		kind: "postgres", name: "without PostgreSQL", cause: func(w *world, _ *member) {
			if err := w.server.Stop(syscall.SIGINT); err != nil {
				w.t.Fatal(err)
			}
		}, cure: func(w *world, m *member) {
			if err := w.server.Start(); err != nil {
				w.t.Fatal(err)
			}
			m.Ready()
		}, lasts: 2 * time.Second,
	}
	all = []trouble{
		killed, freezing(12 * time.Second), refused, ended, freezing(time.Second), cutOff, restart, freezing(6 * time.Second),
		apart,
	}
)
