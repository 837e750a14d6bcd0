package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// notifySocket receives datagrams in place of systemd.
func notifySocket(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return path, func() string {
		t.Helper()
		b := make([]byte, 1024)
		if err := c.SetReadDeadline(time.Now().Add(servetest.Patience)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(b)
		if err != nil {
			t.Fatal("nothing came: ", err)
		}
		return string(b[:n])
	}
}

// TestServiceManager: a unit with Type=notify and WatchdogSec hears that the conductor is ready, that it lives, and
// that it stops.
func TestServiceManager(t *testing.T) {
	path, next := notifySocket(t)
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "20000")
	c := start(t, t.TempDir())
	var heard []string
	for !slices.Contains(heard, "READY=1") || heard[len(heard)-1] != "WATCHDOG=1" {
		heard = append(heard, next())
	}
	c.End(t)
	for heard[len(heard)-1] != "STOPPING=1" {
		heard = append(heard, next())
	}
	if heard[0] != "READY=1" {
		t.Errorf("the first message is %q, want READY=1", heard[0])
	}
}

// TestWatchdogSilence: a conductor that does not answer itself gives no sign of life, and the log gives the reason.
func TestWatchdogSilence(t *testing.T) {
	path, next := notifySocket(t)
	var log strings.Builder
	m := newServiceManager(func(name string) string {
		return map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": "7"}[name]
	}, 7, slog.New(slog.NewTextHandler(&log, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	m.watch(ctx, func(context.Context) error {
		if asked++; asked == 3 {
			cancel()
		}
		return errors.New("the database is stuck")
	})
	m.notify("after")
	if first := next(); first != "after" {
		t.Errorf("systemd heard %q of a conductor that does not answer", first)
	}
	if !strings.Contains(log.String(), "the database is stuck") {
		t.Errorf("the log does not say why:\n%s", log.String())
	}
}

func TestServiceManagerVariables(t *testing.T) {
	for _, c := range []struct {
		usec, of string
		want     time.Duration
	}{
		{"", "", 0}, {"30000000", "", 15 * time.Second}, {"30000000", "7", 15 * time.Second},
		{"30000000", "8", 0}, {"-1", "", 0}, {"soon", "", 0},
	} {
		m := newServiceManager(func(name string) string {
			return map[string]string{"WATCHDOG_USEC": c.usec, "WATCHDOG_PID": c.of}[name]
		}, 7, slog.New(slog.DiscardHandler))
		if m.every != c.want {
			t.Errorf("WATCHDOG_USEC=%q WATCHDOG_PID=%q: a sign of life every %s, want %s", c.usec, c.of, m.every, c.want)
		}
	}
}
