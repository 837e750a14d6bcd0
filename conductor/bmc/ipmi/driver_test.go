package ipmi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"
	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// newDriver traces into the test's log and is closed when the test ends.
func newDriver(t *testing.T, o ipmi.Options) *ipmi.Driver {
	o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	d := ipmi.New(o)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// The simulator keeps a boot device and nothing else of the boot flags, and
// has no word for safe mode; TestBoard has the rest.
func TestSimulator(t *testing.T) {
	t.Parallel()
	limits := bmctest.Limits{BootDevices: []string{"pxe", "disk", "cdrom"}, NextBoot: true, NoBootMode: true,
		NoInterrupt: true, NoIndicators: true}
	bmctest.RunWithin(t, limits, func(t *testing.T) (bmc.Driver, node.Node) {
		return newDriver(t, ipmi.Options{}), newSim(t).node()
	})
}

// ipmitool reads the values that we set, and the machine received them.
func TestIpmitool(t *testing.T) {
	t.Parallel()
	s := newSim(t)
	d, n := newDriver(t, ipmi.Options{}), s.node()
	for _, c := range []struct {
		target    node.PowerState
		is, files string
	}{
		{node.PowerOn, "Chassis Power is on", "1"},
		{node.PowerOff, "Chassis Power is off", "0"},
		{node.Rebooting, "Chassis Power is on", "1"},
		{node.SoftPowerOff, "Chassis Power is off", "0"},
	} {
		if err := d.SetPower(t.Context(), n, c.target); err != nil {
			t.Fatal(err)
		}
		if out := s.ipmitool(t, "chassis", "power", "status"); !strings.Contains(out, c.is) || s.read(t, "power") != c.files {
			t.Errorf("after %q: ipmitool says %q, the machine's power is %s", c.target, out, s.read(t, "power"))
		}
	}
	for _, c := range []struct{ device, is, file string }{
		{"pxe", "Boot Device Selector : Force PXE", "pxe"},
		{"disk", "Boot Device Selector : Force Boot from default Hard-Drive", "default"},
		{"cdrom", "Boot Device Selector : Force Boot from CD/DVD", "cdrom"},
		{"bios", "Boot Device Selector : Force Boot into BIOS Setup", "bios"},
	} {
		if err := d.SetBootDevice(t.Context(), n, c.device, false); err != nil {
			t.Fatal(err)
		}
		if out := s.ipmitool(t, "chassis", "bootparam", "get", "5"); !strings.Contains(out, c.is) ||
			s.read(t, "boot") != c.file {
			t.Errorf("boot device %s: the machine has %s, ipmitool says\n%s", c.device, s.read(t, "boot"), out)
		}
	}
	s.ipmitool(t, "chassis", "power", "on")
	if p, err := d.PowerState(t.Context(), n); err != nil || p != node.PowerOn {
		t.Errorf("turned on by ipmitool: got %q, %v", p, err)
	}
	if err := d.SetPower(t.Context(), n, node.Rebooting); err != nil ||
		!strings.HasSuffix(s.read(t, "pressed"), "reset 1") {
		t.Errorf("reset: %v; pressed %q", err, s.read(t, "pressed"))
	}
}

func TestBoard(t *testing.T) {
	bmctest.Run(t, func(t *testing.T) (bmc.Driver, node.Node) {
		return newDriver(t, ipmi.Options{}), newBoard(t).node()
	})
}

// One session for all calls, one command at a time, given back at the end.
func TestOneSession(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, ipmi.Options{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := d.PowerState(t.Context(), b.node()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	many := 0
	b.set(func() { many = b.many })
	if n := b.count(types.CommandSetSessionPrivilegeLevel); n != 1 || many != 1 {
		t.Errorf("%d sessions made, %d commands at once, want 1 and 1", n, many)
	}
	if err := d.Close(); err != nil || b.count(types.CommandCloseSession) != 1 {
		t.Errorf("close: %v, %d sessions given back, want 1", err, b.count(types.CommandCloseSession))
	}
}

func TestIdleSessionIsGivenBack(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, ipmi.Options{IdleTimeout: 20 * time.Millisecond})
	if _, err := d.PowerState(t.Context(), b.node()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is given back", func() bool { return b.count(types.CommandCloseSession) == 1 })
	if _, err := d.PowerState(t.Context(), b.node()); err != nil || b.count(types.CommandSetSessionPrivilegeLevel) != 2 {
		t.Errorf("the next call: %v with %d logins, want the second", err, b.count(types.CommandSetSessionPrivilegeLevel))
	}
}

// The actions that the BMC takes decide which button is pressed. A machine that has the wanted state already is left
// alone.
func TestButtons(t *testing.T) {
	for _, c := range []struct {
		on      bool
		target  node.PowerState
		refused []byte // actions the BMC does not take
		want    string // the actions, or the error
	}{
		{false, node.PowerOn, nil, "[1]"},
		{true, node.PowerOn, nil, "[]"},
		{true, node.PowerOff, nil, "[0]"},
		{false, node.PowerOff, nil, "[]"},
		{true, node.SoftPowerOff, nil, "[5]"},
		{true, node.Rebooting, nil, "[3]"},
		{true, node.Rebooting, []byte{3}, "[3 2]"},
		{true, node.Rebooting, []byte{3, 2}, `the BMC cannot set "rebooting"`},
		{false, node.Rebooting, nil, "[1]"},
		{true, node.SoftRebooting, nil, "[5 1]"},
		{false, node.SoftRebooting, nil, "[1]"},
		{true, node.SoftPowerOff, []byte{5},
			`the BMC cannot set "soft power off": the BMC answered Chassis Control with 0xcc: Invalid data field in request`},
	} {
		b := newBoard(t)
		var pressed []byte
		b.set(func() {
			b.on = c.on
			b.hook = func(cmd types.Command, req []byte) ([]byte, types.CompletionCode, bool) {
				if cmd != types.CommandChassisControl {
					return nil, 0, false
				}
				b.set(func() { pressed = append(pressed, req[0]) })
				return nil, types.CodeRequestDataFieldInvalid, bytes.Contains(c.refused, req)
			}
		})
		err := newDriver(t, ipmi.Options{}).SetPower(t.Context(), b.node(), c.target)
		var r *node.Refusal
		var got string
		b.set(func() { got = fmt.Sprintf("%v", pressed) })
		if err == nil && got != c.want || err != nil && (!errors.As(err, &r) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("on %v, %s: pressed %s, %v, want %s", c.on, c.target, got, err, c.want)
		}
	}
}

// The bytes of the boot flags (IPMI v2.0, table 28-14, parameter 5).
func TestBootFlags(t *testing.T) {
	for _, c := range []struct {
		name  string
		was   []byte
		mode  string // the node's
		do    func(d *ipmi.Driver, n node.Node) error
		flags []byte
	}{
		{"once, nothing known", []byte{0, 0, 0, 0, 0}, "", setDevice("pxe", false), []byte{0xa0, 0x04, 0, 0, 0}},
		{"persistent, UEFI", []byte{0, 0, 0, 0, 0}, "uefi", setDevice("disk", true), []byte{0xe0, 0x08, 0, 0, 0}},
		{"once, BIOS", []byte{0, 0, 0, 0, 0}, "bios", setDevice("cdrom", false), []byte{0x80, 0x14, 0, 0, 0}},
		{"the BMC's mode where the node's is not known", []byte{0x80, 0x08, 0, 0, 0}, "", setDevice("pxe", false),
			[]byte{0x80, 0x04, 0, 0, 0}},
		{"but not one that is over", []byte{0x00, 0x08, 0, 0, 0}, "", setDevice("bios", false), []byte{0xa0, 0x18, 0, 0, 0}},
		{"a mode leaves the device", []byte{0x80, 0x04, 0, 0, 0}, "", setMode("uefi"), []byte{0xa0, 0x04, 0, 0, 0}},
		{"a mode alone", []byte{0x00, 0x08, 0, 0, 0}, "", setMode("uefi"), []byte{0xe0, 0, 0, 0, 0}},
		{"safe", []byte{0, 0, 0, 0, 0}, "bios", setDevice("safe", false), []byte{0x80, 0x0c, 0, 0, 0}},
	} {
		b := newBoard(t)
		b.set(func() { b.flags = c.was })
		n := b.node()
		n.BootMode = c.mode
		if err := c.do(newDriver(t, ipmi.Options{}), n); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		b.set(func() {
			if diff := cmp.Diff(c.flags, b.flags); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		})
	}
}

func setDevice(device string, persistent bool) func(*ipmi.Driver, node.Node) error {
	return func(d *ipmi.Driver, n node.Node) error {
		return d.SetBootDevice(context.Background(), n, device, persistent)
	}
}

func setMode(mode string) func(*ipmi.Driver, node.Node) error {
	return func(d *ipmi.Driver, n node.Node) error { return d.SetBootMode(context.Background(), n, mode) }
}

// The minute after which a BMC forgets its boot flags is turned off, unless
// the node says not to.
func TestBootTimeout(t *testing.T) {
	for _, c := range []struct {
		disable any
		want    string
	}{
		{nil, "[[3 8]]"}, {true, "[[3 8]]"}, {"true", "[[3 8]]"}, {false, "[]"}, {"False", "[]"},
	} {
		b := newBoard(t)
		got := [][]byte{}
		b.set(func() {
			b.hook = func(cmd types.Command, req []byte) ([]byte, types.CompletionCode, bool) {
				mine := cmd == types.CommandSetSystemBootOptions && req[0] == 3
				if mine {
					b.set(func() { got = append(got, bytes.Clone(req)) })
				}
				return nil, types.CodeParameterNotSupported, mine // a BMC that has no such parameter is no obstacle
			}
		})
		err := newDriver(t, ipmi.Options{}).SetBootDevice(t.Context(), b.node("ipmi_disable_boot_timeout", c.disable),
			"pxe", false)
		b.set(func() {
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%v: sent %v (%v), want %s", c.disable, got, err, c.want)
			}
		})
	}
}

func TestSystem(t *testing.T) {
	field := func(s string) (types.TypeLength, []byte) { return types.TypeLength(0xc0 | len(s)), []byte(s) }
	b := newBoard(t)
	fru := &types.FRU{ProductInfoArea: &types.FRUProductInfoArea{}, BoardInfoArea: &types.FRUBoardInfoArea{}}
	fru.ProductInfoArea.ManufacturerTypeLength, fru.ProductInfoArea.Manufacturer = field("ACME ")
	fru.ProductInfoArea.NameTypeLength, fru.ProductInfoArea.Name = field("Anvil\x00 9")
	fru.BoardInfoArea.SerialNumberTypeLength, fru.BoardInfoArea.SerialNumber = field("B-42")
	raw, err := types.PackFRUInventory(fru)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.bmc.HAL().Storage().FRU().Write(t.Context(), 0, raw); err != nil {
		t.Fatal(err)
	}
	b.set(func() { b.flags[0] = 0xa0 })
	d := newDriver(t, ipmi.Options{})
	got, err := d.System(t.Context(), b.node())
	want := node.System{UUID: "00112233-4455-6677-8899-aabbccddeeff", Manufacturer: "ACME", Model: "Anvil 9",
		Serial: "B-42", BootMode: "uefi"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v -want +got:\n%s", err, diff)
	}
	if uuid, err := d.SystemUUID(t.Context(), b.node()); err != nil || uuid != want.UUID {
		t.Errorf("the UUID alone is %q, %v", uuid, err)
	}
	// A BMC that has no inventory is not wrong.
	got, err = d.System(t.Context(), newSim(t).node())
	if diff := cmp.Diff(node.System{UUID: want.UUID}, got); diff != "" || err != nil {
		t.Errorf("%v -want +got:\n%s", err, diff)
	}
}

// TestBootDeviceKept: boot flags are read back, and set once more where the BMC has not kept them.
func TestBootDeviceKept(t *testing.T) {
	for lost, want := range map[int]string{0: "", 1: "", 2: "does not keep it"} {
		b := newBoard(t)
		left := lost
		hook := func(c types.Command, req []byte) ([]byte, types.CompletionCode, bool) {
			if c.Name != types.CommandSetSystemBootOptions.Name || req[0] != 5 || left == 0 {
				return nil, 0, false
			}
			left--
			return nil, types.CodeOK, true
		}
		b.set(func() { b.hook = hook })
		err := newDriver(t, ipmi.Options{}).SetBootDevice(t.Context(), b.node(), "pxe", false)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d lost: %v", lost, err)
		}
	}
}

// TestBootDeviceNotShown: a BMC that takes boot flags and reports none is believed (kubevirtbmc/kubevirtbmc#234).
func TestBootDeviceNotShown(t *testing.T) {
	b := newBoard(t)
	hook := func(c types.Command, _ []byte) ([]byte, types.CompletionCode, bool) {
		return nil, types.CodeParameterNotSupported, c.Name == types.CommandGetSystemBootOptions.Name
	}
	b.set(func() { b.hook = hook })
	d := newDriver(t, ipmi.Options{})
	err := d.SetBootDevice(t.Context(), b.node(), "pxe", false)
	device, _, readErr := d.BootDevice(t.Context(), b.node())
	b.set(func() {
		if err != nil || readErr != nil || device != "" || b.flags[1] == 0 {
			t.Errorf("%v, %q, %v, flags % x", err, device, readErr, b.flags)
		}
	})
}
