package jobs_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// byHand makes a managed node without a BMC. Its machine is off.
func byHand(w *enginetest.World) node.Node {
	w.T.Helper()
	n, err := w.E.CreateNode(w.Ctx, node.Node{Name: "one", Driver: "manual-management"})
	w.Must(err)
	_, err = w.E.CreatePort(w.Ctx, node.Port{NodeUUID: n.UUID, Address: enginetest.MACOf(n.UUID)})
	w.Must(err)
	w.Ask(n.UUID, node.Manage, node.Manageable)
	w.Must(w.E.SetPower(w.Ctx, n.UUID, node.PowerOff, 0))
	time.Sleep(time.Second)
	w.Must(w.E.ConfirmPower(w.Ctx, n.UUID, node.PowerOff))
	if n = w.Settled(n.UUID); n.PowerState != node.PowerOff {
		w.T.Fatalf("after the word that it is off its power is %q", n.PowerState)
	}
	return n
}

// TestByHand: a person switches a machine without a BMC. The conductor publishes its request, waits for a confirmation
// or for a boot from the network, and gives up after a while.
func TestByHand(t *testing.T) {
	on, off := node.PowerOn, node.PowerOff
	for name, tc := range map[string]struct {
		target  node.PowerState
		asks    string          // of the person; "" for nothing
		word    node.PowerState // that the person gives; "" for none
		stage   string          // that the boot service sees instead
		power   node.PowerState // in the end
		failure string
	}{
		"on": {target: on, word: on, power: on,
			asks: "a person to switch the machine on; then: ferrite node confirm power on one"},
		"restart": {target: node.Rebooting, word: on, power: on,
			asks: "a person to restart the machine; then: ferrite node confirm power on one"},
		"boots": {target: on, stage: "ipxe script", power: on,
			asks: "a person to switch the machine on; then: ferrite node confirm power on one"},
		"only DHCP": {target: on, stage: "dhcp ack", power: off, failure: "no person confirmed within 4h0m0s",
			asks: "a person to switch the machine on; then: ferrite node confirm power on one"},
		"nobody": {target: on, power: off, failure: "ferrite node confirm power on",
			asks: "a person to switch the machine on; then: ferrite node confirm power on one"},
		"already off": {target: off, power: off},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Start()
				defer w.Close()
				n := byHand(w)
				w.Must(w.E.SetPower(w.Ctx, n.UUID, tc.target, 0))
				time.Sleep(time.Minute)
				st, err := w.E.Status(w.Ctx, n.UUID)
				if err != nil || st.WaitingFor != tc.asks {
					t.Errorf("it waits for %q (%v), want %q", st.WaitingFor, err, tc.asks)
				}
				if tc.stage != "" {
					w.E.BootStage(n.UUID, tc.stage, "")
				}
				if tc.word != "" {
					var r *node.Refusal
					if err := w.E.ConfirmPower(w.Ctx, n.UUID, off); !errors.As(err, &r) {
						t.Errorf("the wrong word is answered %v", err)
					}
					w.Must(w.E.ConfirmPower(w.Ctx, n.UUID, tc.word))
				}
				n = w.Settled(n.UUID)
				if n.PowerState != tc.power || !strings.Contains(n.LastError, tc.failure) ||
					(n.LastError == "") != (tc.failure == "") {
					t.Errorf("power %q, want %q; last error %q, want %q", n.PowerState, tc.power, n.LastError, tc.failure)
				}
				if st, err := w.E.Status(w.Ctx, n.UUID); err != nil || st.WaitingFor != "" {
					t.Errorf("at rest it waits for %q (%v)", st.WaitingFor, err)
				}
				var r *node.Refusal
				if err := w.E.ConfirmPower(w.Ctx, n.UUID, on); !errors.As(err, &r) {
					t.Errorf("a word that nobody waits for is answered %v", err)
				}
			})
		})
	}
}

// A conductor that ends while a person is asked asks again when it starts, and continues with their word.
func TestByHandRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := byHand(w)
		w.Must(w.E.SetPower(w.Ctx, n.UUID, node.Rebooting, 0))
		time.Sleep(time.Minute)
		w.End()
		w.Start()
		time.Sleep(time.Minute)
		if n, err := w.E.Node(w.Ctx, n.UUID); err != nil || n.PowerState != node.PowerOff ||
			n.TargetPowerState != node.PowerOn {
			t.Errorf("after the restart power is %q, on the way to %q", n.PowerState, n.TargetPowerState)
		}
		w.Must(w.E.ConfirmPower(w.Ctx, n.UUID, node.PowerOn))
		if n := w.Settled(n.UUID); n.PowerState != node.PowerOn {
			t.Errorf("power is %q: %s", n.PowerState, n.LastError)
		}
	})
}
