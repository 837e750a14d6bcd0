//go:build e2e

package clients

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// bareMachine is a machine of which there is the controller alone: it is on or
// off, and boots nothing.
type bareMachine struct {
	mu    sync.Mutex
	power qemu.Power
	boot  qemu.Boot
}

func (m *bareMachine) Spec() qemu.Spec {
	return qemu.Spec{
		Name: "metal-1", UUID: "6aaf4df9-c601-5e47-a343-0856024bd9c3", Serial: "METAL-1", Firmware: qemu.UEFI,
		MemoryMB: 1024, CPUs: 1,
		Disks: []qemu.Disk{{SizeMB: 8192, Bus: qemu.BusVirtio, Serial: "H6D", LogicalSectorSize: 512}},
		NICs:  []qemu.NIC{{MAC: "52:54:00:77:00:08", Tap: "tap0"}},
	}
}

func (m *bareMachine) Power() qemu.Power {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.power
}

func (m *bareMachine) Boot() qemu.Boot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

func (m *bareMachine) SetBoot(b qemu.Boot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot = b
	return b.Validate()
}

func (m *bareMachine) Reset(_ context.Context, kind qemu.ResetType) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.power = qemu.On
	if kind == qemu.ResetForceOff || kind == qemu.ResetGracefulShutdown {
		m.power = qemu.Off
	}
	return nil
}

func (m *bareMachine) InsertMedia(context.Context, string) error { return nil }
func (m *bareMachine) EjectMedia(context.Context) error          { return nil }

// startMachine is the command "machine FILE": it starts a machine whose controller
// speaks Redfish, and writes where that is into what FILE says of $BMC.
func startMachine(ts *testscript.TestScript, neg bool, args []string) {
	tb, ok := ts.Value("test").(testing.TB)
	if !ok || neg || len(args) != 1 {
		ts.Fatalf("usage: machine FILE")
	}
	controller := redfish.New(redfish.Config{
		Machine: &bareMachine{
			power: qemu.Off, boot: qemu.Boot{Target: qemu.TargetNone, Enabled: qemu.Disabled, Firmware: qemu.UEFI},
		},
		Username: "admin", Password: "open, please", Log: slog.New(slog.DiscardHandler),
	})
	server := httptest.NewServer(controller)
	ts.Defer(func() {
		server.Close()
		if err := controller.Close(); err != nil {
			tb.Error(err)
		}
	})
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "$BMC", "redfish+"+server.URL)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
