//go:build cluster

package history

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// trouble is what befalls a conductor; cure ends it. lasts is how long it is in trouble.
type trouble struct {
	kind  string // of its figure
	name  string
	cause func(w *world, m *member)
	cure  func(w *world, m *member)
	lasts time.Duration
}

func freezing(lasts time.Duration) trouble {
	kind := "frozen"
	if lasts < 5*time.Second {
		kind = "moment"
	}
	return trouble{
		kind, fmt.Sprintf("frozen for %s", lasts),
		func(_ *world, m *member) { m.signal(syscall.SIGSTOP) }, func(_ *world, m *member) {
			m.signal(syscall.SIGCONT)
			m.ready()
		}, lasts,
	}
}

// moment is how long a freeze lasts: short ones, and by chance those at whose end the leadership is about to be over.
func moment(nth int) time.Duration {
	if nth%4 == 0 {
		return time.Duration(200+rand.IntN(1800)) * time.Millisecond
	}
	return time.Duration(3500+rand.IntN(4000)) * time.Millisecond
}

var (
	killed = trouble{
		"killed", "killed", func(_ *world, m *member) { m.signal(syscall.SIGKILL) }, (*world).again, 2 * time.Second,
	}
	ended = trouble{
		"stopped", "stopped", func(_ *world, m *member) { m.signal(syscall.SIGTERM) }, (*world).again, 2 * time.Second,
	}
	refused = trouble{
		"refused", "refused by the database", func(w *world, m *member) {
			w.command("ALTER ROLE "+m.role+" NOLOGIN",
				"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '"+m.role+"'")
		}, func(w *world, m *member) {
			w.command("ALTER ROLE " + m.role + " LOGIN")
			m.ready()
		}, 10 * time.Second,
	}
	cutOff = trouble{
		"cut", "cut off from the database", func(_ *world, m *member) { m.network.cut() },
		func(_ *world, m *member) {
			m.network.mend()
			m.ready()
		}, 10 * time.Second,
	}
	restart = trouble{
		"postgres", "without PostgreSQL", func(w *world, _ *member) {
			if err := w.server.Stop(syscall.SIGINT); err != nil {
				w.t.Fatal(err)
			}
		}, func(w *world, m *member) {
			if err := w.server.Start(); err != nil {
				w.t.Fatal(err)
			}
			m.ready()
		}, 2 * time.Second,
	}
	all = []trouble{
		killed, freezing(12 * time.Second), refused, ended, freezing(time.Second), cutOff, restart, freezing(6 * time.Second),
	}
)
