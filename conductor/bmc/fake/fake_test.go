package fake_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/fake"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestDriver(t *testing.T) {
	bmctest.Run(t, func(*testing.T) (bmc.Driver, node.Node) {
		return fake.New(fake.Script{}), node.Node{UUID: "n1", PowerState: node.PowerOff}
	})
}

func TestBelievesTheRecord(t *testing.T) {
	d := fake.New(fake.Script{})
	for uuid, want := range map[string]node.PowerState{"a": node.PowerOn, "b": node.PowerOff, "c": ""} {
		n := node.Node{UUID: uuid, PowerState: want, BootMode: "bios"}
		if got, err := d.PowerState(t.Context(), n); err != nil || got != want {
			t.Errorf("power is %q (%v), want %q", got, err, want)
		}
		if got, err := d.BootMode(t.Context(), n); err != nil || got != "bios" {
			t.Errorf("boot mode is %q (%v), want bios", got, err)
		}
	}
}

func TestScript(t *testing.T) {
	boom := errors.New("boom")
	d := fake.New(fake.Script{Faults: []fake.Fault{
		{Call: "SetPower", Nth: 2, Err: boom},
		{Call: "SetPower", Node: "b", Nth: 1, Err: boom, After: true},
		{Call: "System", Err: boom},
	}})
	a, b := node.Node{UUID: "a"}, node.Node{UUID: "b"}
	for i, c := range []struct {
		n      node.Node
		target node.PowerState
		err    error
		want   node.PowerState
	}{
		{a, node.PowerOn, nil, node.PowerOn},
		{a, node.PowerOff, boom, node.PowerOn},
		{b, node.PowerOff, boom, node.PowerOff},
		{b, node.PowerOn, nil, node.PowerOn},
	} {
		if err := d.SetPower(t.Context(), c.n, c.target); !errors.Is(err, c.err) {
			t.Errorf("call %d: got %v, want %v", i, err, c.err)
		}
		if got, err := d.PowerState(t.Context(), c.n); err != nil || got != c.want {
			t.Errorf("call %d: power is %q (%v), want %q", i, got, err, c.want)
		}
		if _, err := d.System(t.Context(), c.n); !errors.Is(err, boom) {
			t.Errorf("system %d: got %v, want %v", i, err, boom)
		}
	}
	if n := d.Calls("SetPower"); n != 4 {
		t.Errorf("counted %d calls, want 4", n)
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := fake.New(fake.Script{Delay: time.Second, Faults: []fake.Fault{{Call: "BootMode", Delay: time.Minute}}})
		start := time.Now()
		if _, err := d.PowerState(t.Context(), node.Node{}); err != nil || time.Since(start) != time.Second {
			t.Errorf("took %s (%v), want 1 s", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := d.BootMode(ctx, node.Node{}); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != 6*time.Second {
			t.Errorf("took %s (%v), want the deadline at 6 s", time.Since(start), err)
		}
	})
}

func TestMedia(t *testing.T) {
	d, n := fake.New(fake.Script{}), node.Node{UUID: "n1"}
	inside := func() (all []string) {
		slots, err := d.MediaSlots(t.Context(), n)
		if err != nil || len(slots) != 3 {
			t.Fatalf("%+v, %v", slots, err)
		}
		for _, s := range slots {
			if s.Inserted {
				all = append(all, s.Types[0]+" "+*s.Image)
			}
		}
		return all
	}
	for _, m := range []node.Medium{{Device: "cdrom", Image: "a"}, {Device: "disk", Image: "b"},
		{Device: "cdrom", Image: "c"}} {
		if err := d.AttachMedium(t.Context(), n, m); err != nil {
			t.Fatal(err)
		}
	}
	want := [][]string{{"CD c", "USBStick b"}, {"USBStick b"}, nil}
	for i, devices := range [][]string{{"floppy"}, {"cdrom", "floppy"}, nil} {
		if err := d.DetachMedia(t.Context(), n, devices); err != nil {
			t.Fatal(err)
		}
		if got := inside(); !slices.Equal(got, want[i]) {
			t.Errorf("after %v: %v, want %v", devices, got, want[i])
		}
	}
}

// The BIOS has the settings that it was given last, and nothing after a reset.
func TestSettings(t *testing.T) {
	d, n := fake.New(fake.Script{}), node.Node{UUID: "n1"}
	do := func(kind, name string, settings ...any) (node.StepReport, error) {
		return d.DoStep(t.Context(), n, node.Step{Interface: kind, Step: name, Args: map[string]any{"settings": settings}},
			"")
	}
	r, err := do("bios", "apply_configuration", map[string]any{"name": "Cores", "value": 4.0})
	if err != nil || !r.Done || len(r.HardwareReport.BIOS) != 1 || r.HardwareReport.BIOS[0].Name != "Cores" ||
		*r.HardwareReport.BIOS[0].Value != "4" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = do("bios", "factory_reset"); err != nil || !r.Done || r.HardwareReport.BIOS == nil ||
		len(r.HardwareReport.BIOS) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = do("firmware", "update", map[string]any{"component": "bmc", "url": "http://a/b"}); err != nil || !r.Done ||
		r.HardwareReport != nil {
		t.Errorf("%+v, %v", r, err)
	}
	for kind, name := range map[string]string{"bios": "apply_configuration", "firmware": "update"} {
		if _, err = do(kind, name, "Cores"); err == nil {
			t.Errorf("%s.%s takes a setting without a name", kind, name)
		}
	}
}
