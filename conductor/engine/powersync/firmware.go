package powersync

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// firmwareEvery is how often the power sync also asks how the firmware starts
// a machine. Ironic does so every time; but it changes hardly ever, and it is
// two more questions for a small computer.
const firmwareEvery = time.Hour

// readFirmware corrects the recorded boot mode and secure boot of a node at rest. It asks only a BMC that knows both.
// IPMI knows of the boot mode only the setting for the next start.
func (e *Sync) readFirmware(ctx context.Context, bmc core.BMC, n node.Node) {
	secure, ok := bmc.(core.SecureBooter)
	if !ok || n.Maintenance || !e.schedule.firmwareDue(n.UUID, e.Now()) {
		return
	}
	call, cancel := context.WithTimeout(ctx, e.Patience(n).Verify)
	defer cancel()
	read, err := e.firmware(call, bmc, secure, n)
	if err != nil && ctx.Err() == nil {
		e.Log.Info("the BMC does not say how the machine starts; it stays as recorded", "node", n.UUID, "err", err)
	}
	if err != nil || !plan.FirmwareNews(n, read) {
		return
	}
	if _, err := e.Act(ctx, n.UUID, read); err != nil && !errors.Is(err, node.ErrNotFound) && ctx.Err() == nil {
		e.Log.Error("how the machine starts not saved; another hour is another chance", "node", n.UUID, "err", err)
	}
}

// firmware asks a BMC. A driver that panics has failed: see guard.
func (e *Sync) firmware(ctx context.Context, bmc core.BMC, secure core.SecureBooter,
	n node.Node) (read plan.FirmwareRead, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			e.Log.Error("reading the boot mode panicked", "node", n.UUID, "panic", fault, "stack", string(debug.Stack()))
			err = node.Refuse(node.Invalid, "a fault in this program: %v; please report it with the log", fault)
		}
	}()
	read.Revision = n.Revision
	if read.BootMode, err = bmc.BootMode(ctx, n); err != nil {
		return read, err
	}
	read.SecureBoot, err = secure.SecureBoot(ctx, n)
	return read, err
}
