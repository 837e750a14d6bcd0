// Package bmctest is the suite every driver passes, and so the definition of
// what engine may rely on.
//
// It must not know any driver: it sees bmc.Driver and nothing else.
package bmctest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Limits are what the machine of a test cannot do, although the driver can: simulators leave
// things out. Other tests cover those parts.
type Limits struct {
	BootDevices []string // the only ones it takes, nil for all
	NextBoot    bool     // it keeps no boot device for longer than the next boot
	NoBootMode  bool     // it forgets a boot mode at once

	NoInterrupt, NoIndicators bool // it has no NMI, no lights
}

// Run runs the suite. open gives a driver and a node whose machine is off and
// nobody else uses, and sees to the driver's closing.
func Run(t *testing.T, open func(t *testing.T) (bmc.Driver, node.Node)) {
	RunWithin(t, Limits{}, open)
}

// RunWithin is Run against a machine with limits.
func RunWithin(t *testing.T, l Limits, open func(t *testing.T) (bmc.Driver, node.Node)) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, d bmc.Driver, n node.Node)
		not  bool
	}{
		{"power", testPower, false},
		{"power targets", testTargets, false},
		{"boot device", l.testBootDevice, false},
		{"boot mode", testBootMode, l.NoBootMode},
		{"system", testSystem, l.NoBootMode},
		{"secure boot", testSecureBoot, l.NoBootMode},
		{"an interrupt", testNMI, l.NoInterrupt},
		{"indicators", testIndicators, l.NoIndicators},
		{"virtual media", testMedia, false},
		{"BIOS settings and firmware", testHardwareReport, false},
		{"vitals", testVitals, false},
		{"a console", testConsole, false},
		{"vendor methods", testVendor, false},
		{"an ended context", testContext, false},
		{"close", testClose, false},
	} {
		if c.not {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			d, n := open(t)
			if err := d.Validate(n); err != nil {
				t.Fatalf("the node is not valid: %v", err)
			}
			c.test(t, d, n)
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, what string, err error) {
	t.Helper()
	var r *node.Refusal
	if !errors.As(err, &r) {
		t.Errorf("%s: got %v, want a refusal", what, err)
	}
}

// testPower walks through every target, and repeats what must be harmless.
func testPower(t *testing.T, d bmc.Driver, n node.Node) {
	for _, c := range []struct{ target, want node.PowerState }{
		{node.PowerOff, node.PowerOff},
		{node.PowerOn, node.PowerOn},
		{node.PowerOn, node.PowerOn},
		{node.Rebooting, node.PowerOn},
		{node.SoftRebooting, node.PowerOn},
		{node.SoftPowerOff, node.PowerOff},
		{node.SoftPowerOff, node.PowerOff},
		{node.Rebooting, node.PowerOn}, // of a machine that is off
		{node.PowerOff, node.PowerOff},
		{node.PowerOff, node.PowerOff},
		{node.SoftRebooting, node.PowerOn},
		{node.PowerOff, node.PowerOff},
	} {
		if err := d.SetPower(t.Context(), n, c.target); err != nil {
			t.Fatalf("set %q: %v", c.target, err)
		}
		if got, err := d.PowerState(t.Context(), n); err != nil || got != c.want {
			t.Errorf("after %q: power is %q (%v), want %q", c.target, got, err, c.want)
		}
	}
}

func testTargets(t *testing.T, d bmc.Driver, n node.Node) {
	for _, target := range []node.PowerState{"", node.PowerError, "up"} {
		refused(t, "power state "+string(target), d.SetPower(t.Context(), n, target))
	}
}

func (l Limits) testBootDevice(t *testing.T, d bmc.Driver, n node.Node) {
	supported := d.SupportedBootDevices(n)
	if !slices.Contains(supported, "pxe") {
		t.Errorf("supported boot devices are %v, want pxe among them", supported)
	}
	for _, device := range append(supported, "pxe", "disk") {
		for _, persistent := range []bool{false, true} {
			if device == "bios" { // firmware without a setup screen has no such device
				continue
			}
			if l.BootDevices != nil && !slices.Contains(l.BootDevices, device) {
				continue
			}
			check(t, d.SetBootDevice(t.Context(), n, device, persistent))
			got, lasts, err := d.BootDevice(t.Context(), n)
			if want := persistent && !l.NextBoot; err != nil || got != device || lasts != want {
				t.Errorf("boot device is %q, persistent %v (%v), want %q, %v", got, lasts, err, device, want)
			}
		}
	}
	for _, device := range []string{"", "tape"} {
		refused(t, "boot device "+device, d.SetBootDevice(t.Context(), n, device, false))
	}
}

func testBootMode(t *testing.T, d bmc.Driver, n node.Node) {
	for _, mode := range []string{"bios", "uefi", "uefi"} {
		check(t, d.SetBootMode(t.Context(), n, mode))
		if got, err := d.BootMode(t.Context(), n); err != nil || got != mode {
			t.Errorf("boot mode is %q (%v), want %q", got, err, mode)
		}
	}
	for _, mode := range []string{"", "openfirmware"} {
		refused(t, "boot mode "+mode, d.SetBootMode(t.Context(), n, mode))
	}
}

func testSystem(t *testing.T, d bmc.Driver, n node.Node) {
	check(t, d.SetBootMode(t.Context(), n, "uefi"))
	s, err := d.System(t.Context(), n)
	if err != nil || s.BootMode != "uefi" {
		t.Errorf("system is %+v (%v), want boot mode uefi", s, err)
	}
}

func testContext(t *testing.T, d bmc.Driver, n node.Node) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.PowerState(ctx, n); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, err := d.PowerState(t.Context(), n); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func testClose(t *testing.T, d bmc.Driver, n node.Node) {
	_, err := d.PowerState(t.Context(), n)
	check(t, err)
	check(t, d.Close())
	check(t, d.Close())
}
