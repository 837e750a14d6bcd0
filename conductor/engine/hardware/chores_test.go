package hardware_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Firmware that takes a setting as it starts is started, and the machine is as
// it was afterwards.
func TestChangeOfFirmware(t *testing.T) {
	for name, tc := range map[string]struct {
		late  time.Duration
		never bool
		from  node.PowerState
		want  []node.PowerState // expected power actions
		fails string
	}{
		"at once":      {from: node.PowerOn},
		"with a start": {late: 3 * time.Minute, from: node.PowerOn, want: []node.PowerState{node.Rebooting}},
		"with a start from off": {
			late: time.Minute, from: node.PowerOff, want: []node.PowerState{node.Rebooting, node.PowerOff},
		},
		"never": {never: true, from: node.PowerOn, want: []node.PowerState{node.Rebooting},
			fails: "the firmware had not taken it 15m0s later"},
		"never, from off": {never: true, from: node.PowerOff, want: []node.PowerState{node.Rebooting, node.PowerOff},
			fails: "the firmware had not taken it 15m0s later"},
	} {
		for what, ask := range map[string]func(a *enginetest.Able, id string) error{
			"boot mode":   func(a *enginetest.Able, id string) error { return a.E.ChangeBootMode(a.Ctx, id, "bios") },
			"secure boot": func(a *enginetest.Able, id string) error { return a.E.ChangeSecureBoot(a.Ctx, id, true) },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := enginetest.NewAble(t)
					a.Late, a.Never = tc.late, tc.never
					a.Start()
					defer a.Close()
					n := a.Create("redfish")
					a.Push(n.UUID, tc.from)
					n = a.Ask(n.UUID, node.Manage, node.Manageable)
					if n.BootMode != "uefi" || n.SecureBoot == nil || *n.SecureBoot {
						t.Fatalf("verified, the boot mode is %q and secure boot %v", n.BootMode, n.SecureBoot)
					}
					if err := ask(a, n.UUID); err != nil {
						t.Fatal(err)
					}
					n = a.Settled(n.UUID)
					if diff := cmp.Diff(tc.want, a.Pressed()); diff != "" || a.PowerOf(n.UUID) != tc.from {
						t.Errorf("the machine is %q, buttons (-want +got):\n%s", a.PowerOf(n.UUID), diff)
					}
					if done := n.BootMode == "bios" || *n.SecureBoot; done != (tc.fails == "") ||
						!strings.Contains(n.LastError, tc.fails) || tc.fails == "" && n.LastError != "" {
						t.Errorf("boot mode %q, secure boot %v, last error %q", n.BootMode, *n.SecureBoot, n.LastError)
					}
				})
			})
		}
	}
}

// TestFirmwareIsRead: changes that people make in the firmware's setup are found within the hour, if the BMC knows
// them. A reserved node is left alone.
func TestFirmwareIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := enginetest.NewAble(t)
		a.Start()
		defer a.Close()
		n := a.Managed()
		time.Sleep(3 * time.Hour)
		a.Wrote(0, "while nothing has changed")
		a.SetAble(func() { a.Mode, a.Secure = "bios", true })
		time.Sleep(firmwareHour)
		if n = a.Node(n.UUID); n.BootMode != "bios" || n.SecureBoot == nil || !*n.SecureBoot {
			t.Errorf("boot mode %q, secure boot %v", n.BootMode, n.SecureBoot)
		}
		a.Wrote(1, "when it had changed")
	})
}

// firmwareHour is when the next look at the firmware is over.
const firmwareHour = time.Hour + 5*time.Minute

// TestDriverWithoutExtensions: the error of a missing extension has Ironic's words. It comes at once if Ironic checks
// first, in last_error if Ironic checks later.
func TestDriverWithoutExtensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		id := b.Managed().UUID
		_, err1 := b.E.Indicators(b.Ctx, id)
		_, err2 := b.E.IndicatorState(b.Ctx, id, "system", "led")
		for what, err := range map[string]error{
			"inject_nmi": b.E.InjectNMI(b.Ctx, id), "console": b.E.SetConsole(b.Ctx, id, true), "get_supported_indicators": err1,
			"get_indicator_state": err2, "set_indicator_state": b.E.SetIndicatorState(b.Ctx, id, "system", "led", "on"),
		} {
			if want := "Driver redfish does not support " + what + " (disabled or not implemented)."; err == nil ||
				err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if all, err := b.E.VendorMethods(b.Ctx, id); err != nil || all != nil {
			t.Errorf("vendor methods are %v, %v", all, err)
		}
		if _, _, err := b.E.CallVendor(b.Ctx, id, "POST", "quick", nil); err == nil ||
			err.Error() != "No handler for method quick" {
			t.Errorf("vendor method: %v", err)
		}
		if err := b.E.ChangeSecureBoot(b.Ctx, id, true); err != nil {
			t.Fatal(err)
		}
		if n := b.Settled(id); n.SecureBoot != nil ||
			n.LastError != "Failed to change secure_boot state to 'true': Driver redfish does not support "+
				"set_secure_boot_state (disabled or not implemented)." {
			t.Errorf("secure boot %v, last error %q", n.SecureBoot, n.LastError)
		}
	})
}

func TestConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := enginetest.NewAble(t)
		a.Start()
		defer a.Close()
		n := a.Create("redfish") // it has no-console by default
		if err := a.E.SetConsole(a.Ctx, n.UUID, false); err == nil ||
			!strings.Contains(err.Error(), "does not support console") {
			t.Errorf("no-console: %v", err)
		}
		if verdicts, err := a.E.Validate(a.Ctx, n.UUID); err != nil || verdicts["console"] != nil {
			t.Errorf("no-console is switched off, and is not wrong: %v, %v", verdicts["console"], err)
		}
		n = a.Node(n.UUID)
		n.Interfaces["console"] = "sol"
		saved := n.Clone()
		if _, err := a.Store.Commit(a.Ctx, node.Change{Save: &saved}); err != nil {
			t.Fatal(err)
		}
		for _, on := range []bool{false, true, true, false} {
			if err := a.E.SetConsole(a.Ctx, n.UUID, on); err != nil {
				t.Fatal(err)
			}
			if is := a.Settled(n.UUID).ConsoleEnabled; is != on {
				t.Errorf("the console is enabled: %v, want %v", is, on)
			}
			is, info, err := a.E.Console(a.Ctx, n.UUID)
			if err != nil || is != on || (info["url"] == "tcp://127.0.0.1:1") != on {
				t.Errorf("console %v %v, %v", is, info, err)
			}
		}
	})
}

// TestVendor: a vendor method is called once in all cases, and reserves its node unless it may run beside other work.
func TestVendor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := enginetest.NewAble(t)
		a.Start()
		n := a.Managed()
		for _, c := range []struct {
			by, method string
			args       map[string]any
			want       string
		}{
			{"POST", "quick", nil, "done quick false <nil>"},
			{"GET", "quick", nil, "done quick false <nil>"},
			{"POST", "beside", nil, "done beside true <nil>"},
			{"PUT", "quick", nil, "<nil> false The method quick does not support HTTP PUT"},
			{"POST", "quick", map[string]any{"wrong": true}, "<nil> false wrong is wrong"},
			{"POST", "slow", map[string]any{"wrong": true}, "<nil> false wrong is wrong"},
			{"POST", "slow", nil, "<nil> true <nil>"},
		} {
			result, async, err := a.E.CallVendor(a.Ctx, n.UUID, c.by, c.method, c.args)
			if got := fmt.Sprintf("%v %v %v", result, async, err); got != c.want {
				t.Errorf("%s %s %v: %s, want %s", c.by, c.method, c.args, got, c.want)
			}
		}
		a.Settled(n.UUID)
		a.SetAble(func() { a.Fail = errors.New("the BMC is gone"); a.Sent = nil })
		var r *node.Refusal
		if _, _, err := a.E.CallVendor(a.Ctx, n.UUID, "GET", "quick", nil); !errors.As(err, &r) || r.Kind != node.BMCFailed ||
			r.Reason != "the BMC is gone" {
			t.Errorf("a failure: %v", err)
		}
		if _, _, err := a.E.CallVendor(a.Ctx, n.UUID, "POST", "slow", nil); err != nil {
			t.Fatal(err)
		}
		if n = a.Settled(n.UUID); n.LastError != "Vendor method slow failed: the BMC is gone" {
			t.Errorf("last error %q", n.LastError)
		}
		a.SetAble(func() { a.Fail, a.Hang = nil, make(chan struct{}) })
		if _, _, err := a.E.CallVendor(a.Ctx, n.UUID, "POST", "slow", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, _, err := a.E.CallVendor(a.Ctx, n.UUID, "POST", "quick", nil); !errors.As(err, &r) || r.Kind != node.Locked {
			t.Errorf("beside another: %v", err)
		}
		a.Crash()
		a.SetAble(func() { close(a.Hang); a.Hang = nil })
		a.Start()
		defer a.Close()
		if n = a.Settled(n.UUID); !strings.Contains(n.LastError, "not known whether it was done") {
			t.Errorf("after a crash: last error %q", n.LastError)
		}
		if diff := cmp.Diff([]string{"quick", "slow", "slow"}, a.Sent); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}
