package jobs_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// A boot mode that the firmware takes with a start of its own is there before the boot device
// is set, which that start would use up; the ramdisk comes all the same.
func TestBootModeBeforeBootDevice(t *testing.T) {
	for name, late := range map[string]time.Duration{"at once": 0, "with a start": 3 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := enginetest.NewAble(t)
				a.Late = late
				a.Start()
				defer a.Close()
				n := a.Create("redfish")
				n = a.Ask(n.UUID, node.Manage, node.Manageable)
				if _, err := a.E.UpdateNode(a.Ctx, n.UUID, func(n *node.Node) error {
					n.Properties = map[string]any{"capabilities": "boot_mode:bios"}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				n = a.Ask(n.UUID, node.Provide, node.Available)
				starts := []node.PowerState{node.Rebooting, node.PowerOff, node.PowerOn}
				got := slices.DeleteFunc(a.Pressed(), func(p node.PowerState) bool { return p == node.SoftPowerOff })
				if at := slices.Index(got, node.Rebooting); late > 0 && (at < 0 || len(got) < at+3 ||
					!slices.Equal(got[at:at+3], starts)) {
					t.Errorf("pressed %v, %v are wanted in it", got, starts)
				}
				if n.BootMode != "bios" || n.LastError != "" {
					t.Errorf("boot mode %q, last error %q", n.BootMode, n.LastError)
				}
			})
		})
	}
}

// A boot device that the BMC keeps for one boot is set again before each start, until another
// is chosen.
func TestBootDeviceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := enginetest.NewAble(t)
		a.Once = true
		a.Start()
		defer a.Close()
		n := a.Create("redfish")
		n = a.Ask(n.UUID, node.Manage, node.Manageable)
		choose := func(device string, persistent bool) {
			if err := a.E.SetBootDevice(a.Ctx, n.UUID, device, persistent); err != nil {
				t.Fatal(err)
			}
		}
		startsWith := func(what, want string) {
			t.Helper()
			a.Set(func() { a.Machine(n.UUID).Device = "other" })
			if err := a.E.SetPower(a.Ctx, n.UUID, node.Rebooting, 0); err != nil {
				t.Fatal(err)
			}
			n = a.Settled(n.UUID)
			a.Set(func() {
				if got := a.Machine(n.UUID).Device; got != want {
					t.Errorf("%s: started with %q, %q is wanted", what, got, want)
				}
			})
		}
		choose("cdrom", true)
		startsWith("kept", "cdrom")
		startsWith("and kept", "cdrom")
		choose("pxe", false)
		startsWith("chosen for once", "other")
		if again := plan.OnceDevice(n); again != "" {
			t.Errorf("%q is remembered", again)
		}
	})
}
