//go:build e2e

// The boot service against real firmware in QEMU, in a network namespace that
// ends with the test. Needs root, qemu-system-x86, ovmf, ipxe and iproute2:
//
//	go test -tags e2e -run TestNetboot -v ./pxe/server/
package server_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

const cmdline = "console=ttyS0,115200 panic=-1 #word || last"

func TestNetboot(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	mac := net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, 1}
	boot := pxe.Boot{Action: pxe.Ramdisk, Kernel: os.Getenv(kernelFile), Initrd: emptyCPIO(t), Cmdline: cmdline}
	w := &watcher{}
	startService(t, w)
	rom := []pxe.Stage{pxe.StageOffer, pxe.StageAck, pxe.StageScript, pxe.StageKernel}
	for _, tc := range []struct {
		name string
		uefi bool
		nic  string
		more []string
		want []pxe.Stage
	}{
		{"bios-ipxe-rom", false, "", biosConsole(t), rom},
		{"bios-undionly", false, "", chainUndionly(t), append(rom, pxe.StageTFTP)},
		{"uefi-ipxe-rom", true, "", nil, rom},
		{"uefi-pxe-tftp", true, ",romfile=", nil, append(rom, pxe.StageTFTP)},
		{"uefi-http", true, ",romfile=", httpOnly(), append(rom, pxe.StageHTTP)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			w.Set(mac, boot)
			w.powerOn()
			console := machine(ctx, t, tc.uefi, tc.nic, tc.more...)
			boots(ctx, t, w, console)
			seen, story := w.times()
			for _, s := range tc.want {
				if _, ok := seen[s]; !ok {
					t.Errorf("stage %q was never seen", s)
				}
			}
			// iPXE that gets no router advertisement, or waits for ProxyDHCP, sits out
			// 3 to 17 seconds here.
			if wait := seen[pxe.StageScript] - seen[pxe.StageAck]; wait > 2500*time.Millisecond {
				t.Errorf("iPXE waited %v between its address and its script", wait)
			}
			t.Logf("%s: %s", tc.name, story)
		})
	}
	t.Run("retry", func(t *testing.T) { retries(t, w, mac, boot) })
	t.Run("exit-bios", func(t *testing.T) { exits(t, w, mac, boot, false, "", biosConsole(t), "Booting from Hard Disk") })
	t.Run("exit-uefi", func(t *testing.T) { exits(t, w, mac, boot, true, "", nil, "BdsDxe: failed to ") })
}

// boots waits until the kernel runs with the command line unharmed and the ramdisk in hand.
func boots(ctx context.Context, t *testing.T, w *watcher, console *serial) {
	t.Helper()
	select {
	case <-w.booted:
	case <-ctx.Done():
		_, story := w.times()
		t.Fatalf("no ramdisk stage; seen %s; console:\n%s", story, console)
	}
	for _, text := range []string{cmdline, "Freeing initrd memory"} {
		if err := console.wait(ctx, text); err != nil {
			t.Errorf("%v:\n%s", err, console)
		}
	}
}

// retries takes the kernel away until the script's first try has failed.
func retries(t *testing.T, w *watcher, mac net.HardwareAddr, boot pxe.Boot) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	broken := boot
	broken.Kernel = filepath.Join(t.TempDir(), "missing")
	w.Set(mac, broken)
	w.powerOn()
	console := machine(ctx, t, false, "", biosConsole(t)...)
	if err := console.wait(ctx, "next try in 3 seconds"); err != nil {
		t.Fatalf("%v:\n%s", err, console)
	}
	w.Set(mac, boot)
	boots(ctx, t, w, console)
}

// exits changes the answer between DHCP and the script, and checks the firmware's next step.
func exits(t *testing.T, w *watcher, mac net.HardwareAddr, boot pxe.Boot, uefi bool, nic string, more []string,
	next string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w.Set(mac, boot)
	w.onAck = func() { w.Set(mac, pxe.Boot{Action: pxe.Address}) }
	defer func() { w.onAck = nil }()
	w.powerOn()
	console := machine(ctx, t, uefi, nic, more...)
	for _, text := range []string{"trying the next device", next} {
		if err := console.wait(ctx, text); err != nil {
			t.Fatalf("%v:\n%s", err, console)
		}
	}
}
