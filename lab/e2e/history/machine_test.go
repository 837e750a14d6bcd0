//go:build cluster

package history

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// command is one press of a button of a machine.
type command struct {
	at     time.Time
	kind   qemu.ResetType
	before qemu.Power
	after  qemu.Power
}

// machine is a machine with a BMC. Its ledger has all requests to it.
type machine struct {
	*redfishtest.Machine
	server *httptest.Server
	bmc    *redfish.Server

	pushed func(on bool) // after each press; may be nil

	mu     sync.Mutex
	ledger []command
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{Machine: redfishtest.NewMachine()}
	bmc := redfish.New(redfish.Config{
		Machine: m, Username: redfishtest.User, Password: redfishtest.Password, MaxSessions: 64,
		Log: slog.New(slog.DiscardHandler),
	})
	m.bmc, m.server = bmc, httptest.NewServer(bmc)
	t.Cleanup(func() {
		m.server.Close()
		if err := bmc.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// Reset presses a button, and notes it.
func (m *machine) Reset(ctx context.Context, kind qemu.ResetType) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.Power()
	err := m.Machine.Reset(ctx, kind)
	m.ledger = append(m.ledger, command{time.Now(), kind, before, m.Power()})
	if m.pushed != nil && err == nil && (before != m.Power() || kind == qemu.ResetForceRestart) {
		m.pushed(m.Power() == qemu.On)
	}
	return err
}

// changes are the commands that changed the power; late is how many changed nothing.
func (m *machine) changes() (effective []command, late int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.ledger {
		if c.before != c.after || c.kind == qemu.ResetForceRestart || c.kind == qemu.ResetPowerCycle {
			effective = append(effective, c)
		} else {
			late++
		}
	}
	return effective, late
}
