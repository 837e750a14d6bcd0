package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"
)

// serviceManager notifies systemd that the conductor is ready, alive or stopping: by datagrams to systemd's socket
// (sd_notify(3)). The zero value is for a conductor that systemd did not start.
type serviceManager struct {
	socket string        // $NOTIFY_SOCKET; "" for none
	every  time.Duration // between two signs of life; 0 for none
	log    *slog.Logger
}

// newServiceManager reads the variables that systemd sets for a unit with Type=notify and WatchdogSec. Signs of life
// come twice in that time, as sd_watchdog_enabled(3) asks.
func newServiceManager(getenv func(string) string, pid int, log *slog.Logger) serviceManager {
	m := serviceManager{socket: getenv("NOTIFY_SOCKET"), log: log}
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if of := getenv("WATCHDOG_PID"); err != nil || usec <= 0 || of != "" && of != strconv.Itoa(pid) {
		return m
	}
	m.every = time.Duration(usec) * time.Microsecond / 2
	return m
}

// notify sends a state. Nothing here depends on it, so a failure is only logged: systemd acts on the silence.
func (m serviceManager) notify(state string) {
	if m.socket == "" {
		return
	}
	if err := m.send(state); err != nil {
		m.log.Warn("systemd was not notified", "state", state, "err", err)
	}
}

func (m serviceManager) send(state string) error {
	// An address that begins with @ is in the abstract namespace; package net knows that.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET %s: %w", m.socket, err)
	}
	_, err = c.Write([]byte(state))
	if err = errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("NOTIFY_SOCKET %s: %w", m.socket, err)
	}
	return nil
}

// watch gives a sign of life for as long as alive succeeds, until ctx ends. A conductor that has stopped answering
// gives none, and systemd starts it again.
func (m serviceManager) watch(ctx context.Context, alive func(context.Context) error) {
	if m.socket == "" || m.every <= 0 {
		return
	}
	ticks := time.NewTicker(m.every)
	defer ticks.Stop()
	for {
		asked, cancel := context.WithTimeout(ctx, m.every)
		err := alive(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			m.log.Error("the conductor does not answer itself: systemd gets no sign of life, and may start it again", "err", err)
		default:
			m.notify("WATCHDOG=1")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// serviceManagerOf returns the service manager of this process.
func serviceManagerOf(log *slog.Logger) serviceManager {
	return newServiceManager(os.Getenv, os.Getpid(), log)
}
