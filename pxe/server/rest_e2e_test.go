//go:build e2e

package server_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// TestNetbootAtRest: a machine that tries the network first, and has nothing to boot from
// it, goes on to its next device. OVMF's own PXE asked for a minute before it got that
// answer.
func TestNetbootAtRest(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	w := &watcher{}
	startService(t, w)
	w.Set(net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, 1}, pxe.Boot{Action: pxe.Address})
	for _, tc := range []struct {
		name string
		uefi bool
		nic  string
		more []string
		next string // the firmware's message as it goes on
	}{
		{"bios-ipxe-rom", false, "", biosConsole(t), "Booting from Hard Disk"},
		{"uefi-ipxe-rom", true, "", nil, "BdsDxe: failed to "},
		{"uefi-pxe", true, ",romfile=", nil, "PXE-E21: Remote boot cancelled."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			w.powerOn()
			console := machine(ctx, t, tc.uefi, tc.nic, tc.more...)
			if err := console.wait(ctx, tc.next); err != nil {
				t.Fatalf("%v:\n%s", err, console)
			}
			_, story := w.times()
			t.Logf("%s: goes on after %v; %s", tc.name, time.Since(w.on).Round(10*time.Millisecond), story)
		})
	}
}
