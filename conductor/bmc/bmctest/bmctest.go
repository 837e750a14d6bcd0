// Package bmctest is the suite that every driver passes, and so the definition of the behaviour that engine may rely
// on.
//
// It must not know any driver: it sees bmc.Driver and nothing else.
package bmctest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Limits name the abilities that the machine of a test lacks, although the driver has them: simulators leave things
// out. Other tests cover those parts.
type Limits struct {
	BootDevices []string // the only ones it takes, nil for all
	NextBoot    bool     // it keeps no boot device for longer than the next boot
	NoBootMode  bool     // it forgets a boot mode at once

	NoInterrupt, NoIndicators bool // it has no NMI, no lights

	// Patience is how long it may take to show a power state or a boot mode; 0 for none.
	Patience time.Duration
	// ModeAtStart means that a boot mode is in force after the next start.
	ModeAtStart bool
}

// Run runs the suite. open returns a driver and a node; the machine is off, and no other test uses it. open also sees
// to the driver's closing.
func Run(t *testing.T, open func(t *testing.T) (bmc.Driver, node.Node)) {
	RunWithin(t, Limits{}, open)
}

// RunWithin is Run against a machine with limits.
func RunWithin(t *testing.T, l Limits, open func(t *testing.T) (bmc.Driver, node.Node)) {
	for _, c := range Checks(l) {
		t.Run(c.Name, func(t *testing.T) {
			d, n := open(t)
			c.Run(t, d, n)
		})
	}
}

// Check is one test of the suite.
type Check struct {
	Name string
	test func(t testing.TB, d bmc.Driver, n node.Node)
}

// Run does the check. The node's machine must be off.
func (c Check) Run(t testing.TB, d bmc.Driver, n node.Node) {
	if err := d.Validate(n); err != nil {
		t.Fatalf("the node is not valid: %v", err)
	}
	c.test(t, d, n)
}

// Checks lists the suite, without the checks that a machine with these limits cannot pass.
func Checks(l Limits) []Check {
	var all []Check
	for _, c := range []struct {
		name string
		test func(t testing.TB, d bmc.Driver, n node.Node)
		not  bool
	}{
		{"power", l.testPower, false},
		{"power targets", testTargets, false},
		{"boot device", l.testBootDevice, false},
		{"boot mode", l.testBootMode, l.NoBootMode},
		{"boot device and mode", l.testModeStays, l.NoBootMode},
		{"system", l.testSystem, l.NoBootMode},
		{"secure boot", l.testSecureBoot, l.NoBootMode},
		{"an interrupt", l.testNMI, l.NoInterrupt},
		{"indicators", testIndicators, l.NoIndicators},
		{"virtual media", testMedia, false},
		{"BIOS settings and firmware", testHardwareReport, false},
		{"vitals", l.testVitals, false},
		{"a console", testConsole, false},
		{"vendor methods", testVendor, false},
		{"an ended context", testContext, false},
		{"close", testClose, false},
	} {
		if !c.not {
			all = append(all, Check{c.name, c.test})
		}
	}
	return all
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t testing.TB, what string, err error) {
	t.Helper()
	var r *node.Refusal
	if !errors.As(err, &r) {
		t.Errorf("%s: got %v, want a refusal", what, err)
	}
}

// within asks until is answers true, for as long as the machine's limits allow. It returns the last answer.
func (l Limits) within(is func() bool) bool {
	for end := time.Now().Add(l.Patience); ; time.Sleep(pause) {
		if is() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// pause is the time between two looks at a machine that may take its time.
const pause = 5 * time.Millisecond

// reaches checks the power state.
func (l Limits) reaches(t testing.TB, d bmc.Driver, n node.Node, want node.PowerState, when string) {
	t.Helper()
	var got node.PowerState
	var err error
	if !l.within(func() bool {
		got, err = d.PowerState(t.Context(), n)
		return err == nil && got == want
	}) {
		t.Errorf("%s: power is %q (%v), want %q", when, got, err, want)
	}
}

// setMode sets a boot mode, and sees it come into force.
func (l Limits) setMode(t testing.TB, d bmc.Driver, n node.Node, mode string) {
	t.Helper()
	check(t, d.SetBootMode(t.Context(), n, mode))
	if l.ModeAtStart {
		check(t, d.SetPower(t.Context(), n, node.Rebooting))
	}
	var got string
	var err error
	if !l.within(func() bool {
		got, err = d.BootMode(t.Context(), n)
		return err == nil && got == mode
	}) {
		t.Errorf("boot mode is %q (%v), want %q", got, err, mode)
	}
	if l.ModeAtStart {
		check(t, d.SetPower(t.Context(), n, node.PowerOff))
		l.reaches(t, d, n, node.PowerOff, "after the start for the boot mode")
	}
}

// testPower walks through every target, and repeats those that must be harmless twice.
func (l Limits) testPower(t testing.TB, d bmc.Driver, n node.Node) {
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
		l.reaches(t, d, n, c.want, "after "+string(c.target))
	}
}

func testTargets(t testing.TB, d bmc.Driver, n node.Node) {
	for _, target := range []node.PowerState{"", node.PowerError, "up"} {
		refused(t, "power state "+string(target), d.SetPower(t.Context(), n, target))
	}
}

func (l Limits) testBootDevice(t testing.TB, d bmc.Driver, n node.Node) {
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

func (l Limits) testBootMode(t testing.TB, d bmc.Driver, n node.Node) {
	for _, mode := range []string{"bios", "uefi", "uefi"} {
		l.setMode(t, d, n, mode)
	}
	for _, mode := range []string{"", "openfirmware"} {
		refused(t, "boot mode "+mode, d.SetBootMode(t.Context(), n, mode))
	}
}

// testModeStays sets boot devices, which must leave the boot mode as it is.
func (l Limits) testModeStays(t testing.TB, d bmc.Driver, n node.Node) {
	l.setMode(t, d, n, "uefi")
	for _, device := range []string{"pxe", "disk"} {
		for _, persistent := range []bool{false, true} {
			check(t, d.SetBootDevice(t.Context(), n, device, persistent))
			if got, err := d.BootMode(t.Context(), n); err != nil || got != "uefi" {
				t.Errorf("after boot device %s: boot mode is %q (%v), want uefi", device, got, err)
			}
		}
	}
}

func (l Limits) testSystem(t testing.TB, d bmc.Driver, n node.Node) {
	l.setMode(t, d, n, "uefi")
	s, err := d.System(t.Context(), n)
	if err != nil || s.BootMode != "uefi" {
		t.Errorf("system is %+v (%v), want boot mode uefi", s, err)
	}
}

func testContext(t testing.TB, d bmc.Driver, n node.Node) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.PowerState(ctx, n); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, err := d.PowerState(t.Context(), n); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func testClose(t testing.TB, d bmc.Driver, n node.Node) {
	_, err := d.PowerState(t.Context(), n)
	check(t, err)
	check(t, d.Close())
	check(t, d.Close())
}
