//go:build e2e

package clients

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// bareMachine is a machine with nothing but its controller: it is on or off, boots nothing, and fetches no media.
type bareMachine struct{ *redfishtest.Machine }

func (bareMachine) Spec() qemu.Spec {
	return qemu.Spec{
		Name: "metal-1", UUID: "6aaf4df9-c601-5e47-a343-0856024bd9c3", Serial: "METAL-1", Firmware: qemu.UEFI,
		MemoryMB: 1024, CPUs: 1,
		Disks: []qemu.Disk{{SizeMB: 8192, Bus: qemu.BusVirtio, Serial: "H6D", LogicalSectorSize: 512}},
		NICs:  []qemu.NIC{{MAC: "52:54:00:77:00:08", Tap: "tap0"}},
	}
}

func (bareMachine) InsertMedia(context.Context, string) error { return nil }
func (bareMachine) EjectMedia(context.Context) error          { return nil }

// startMachine is the command "machine FILE": it starts a machine with a Redfish controller, and replaces $BMC in FILE
// by the controller's address.
func startMachine(ts *testscript.TestScript, neg bool, args []string) {
	tb, ok := ts.Value("test").(testing.TB)
	if !ok || neg || len(args) != 1 {
		ts.Fatalf("usage: machine FILE")
	}
	controller := redfish.New(redfish.Config{
		Machine: bareMachine{redfishtest.NewMachine()}, Username: "admin", Password: "open, please",
		Log: slog.New(slog.DiscardHandler),
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
