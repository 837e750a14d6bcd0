package redfish_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func patient(err error) bool {
	var p interface{ Patience() bool }
	return errors.As(err, &p) && p.Patience()
}

// Refusals that pass are distinguished from those that stay.
func TestPassingRefusals(t *testing.T) {
	for _, c := range []struct {
		status  int
		message string
		want    bool
	}{
		{409, "Base.1.18.ActionParameterValueConflict", true},
		{400, "Base.1.18.ActionParameterValueConflict", false},
		{400, "iLO.2.23.UnableToModifyDuringSystemPOST", true},
		{400, "iLO.2.14.InvalidOperationForSystemState", true},
		{400, "IDRAC.2.8.SYS518", true},
		{503, "Base.1.18.ServiceTemporarilyUnavailable", true},
		{500, "Base.1.18.InternalError", true},
		{429, "Base.1.18.GeneralError", true},
		{400, "Base.1.18.PropertyValueNotInList", false},
		{405, "Base.1.18.OperationNotAllowed", false},
	} {
		b := newBoard(t)
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			post := strings.HasSuffix(r.URL.Path, "ComputerSystem.Reset")
			if post {
				reply(w, c.status, map[string]any{"error": map[string]any{"code": "Base.1.18.GeneralError", "message": "m",
					"@Message.ExtendedInfo": []any{map[string]any{"MessageId": c.message, "Message": "no"}}}})
			}
			return post
		}
		err := newDriver(t, redfish.Options{}).SetPower(t.Context(), b.node(), node.PowerOn)
		if err == nil || patient(err) != c.want || permanent(err) {
			t.Errorf("%d %s: patience is %t for %v", c.status, c.message, patient(err), err)
		}
	}
}

// A reset that is refused because the machine is as wanted already has succeeded.
func TestAlreadyThere(t *testing.T) {
	for _, c := range []struct {
		target        node.PowerState
		before, after string // the state that is read, before and after the refusal
		status        int
		want          bool
	}{
		{node.PowerOn, "Off", "On", 400, true},
		{node.PowerOn, "Off", "PoweringOn", 409, true},
		{node.PowerOn, "Off", "Off", 409, false},
		{node.PowerOff, "On", "Off", 409, true},
		{node.PowerOff, "On", "PoweringOff", 409, false},
		{node.SoftPowerOff, "On", "Off", 400, true},
		{node.PowerOff, "On", "Off", 403, false},
		{node.Rebooting, "On", "On", 409, false},
	} {
		b := newBoard(t)
		b.power = c.before
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			post := strings.HasSuffix(r.URL.Path, "ComputerSystem.Reset")
			if post {
				b.set(func() { b.power = c.after })
				refuse(w, c.status, "ResourceAlreadyInState", "it is so already")
			}
			return post
		}
		err := newDriver(t, redfish.Options{}).SetPower(t.Context(), b.node(), c.target)
		if (err == nil) != c.want {
			t.Errorf("%s, %s to %s, %d: %v", c.target, c.before, c.after, c.status, err)
		}
	}
}

// A word that does not describe the machine's power has no power state, and is no error. For a change all the same, the
// machine gets the reset that reaches the target from either state.
func TestPowerWithoutState(t *testing.T) {
	const on, off = node.PowerOn, node.PowerOff
	for state, tc := range map[string]struct {
		is, becomes   node.PowerState
		on, off, boot string // reset for power on, power off, and rebooting
	}{
		"On":          {is: on, off: "reset ForceOff", boot: "reset ForceRestart"},
		"Off":         {is: off, on: "reset On", boot: "reset On"},
		"PoweringOn":  {becomes: on, off: "reset ForceOff", boot: "reset ForceRestart"},
		"PoweringOff": {becomes: off, on: "reset On", off: "reset ForceOff", boot: "reset ForceRestart"},
		"Paused":      {on: "reset On", off: "reset ForceOff", boot: "reset ForceRestart"},
		"Reset":       {on: "reset On", off: "reset ForceOff", boot: "reset ForceRestart"},
		"":            {on: "reset On", off: "reset ForceOff", boot: "reset ForceRestart"},
	} {
		b := newBoard(t)
		b.set(func() { b.power = state })
		d := newDriver(t, redfish.Options{})
		said := state
		if tc.is != "" {
			said = ""
		}
		if got, err := d.Vitals(t.Context(), b.node()); err != nil || got.Power != tc.is || got.Becomes != tc.becomes ||
			got.Said != said {
			t.Errorf("%s: got %+v, %v", state, got, err)
		}
		for target, want := range map[node.PowerState]string{on: tc.on, off: tc.off, node.Rebooting: tc.boot} {
			b.set(func() { b.power = state })
			before := 0
			b.set(func() { before = len(b.calls) })
			if err := d.SetPower(t.Context(), b.node(), target); err != nil {
				t.Errorf("%s, %s: %v", state, target, err)
			}
			got := ""
			for _, call := range b.calls[before:] {
				if strings.HasPrefix(call, "reset") {
					got += call
				}
			}
			if got != want {
				t.Errorf("%q, %s: pressed %q, want %q", state, target, got, want)
			}
		}
	}
}

// A password that has to be changed is said so, wherever the BMC says it, and asked once.
func TestPasswordExpired(t *testing.T) {
	for _, at := range []string{"/SessionService/Sessions", "/Systems"} {
		b := newBoard(t)
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			there := strings.HasSuffix(r.URL.Path, at)
			if there {
				refuse(w, 403, "PasswordChangeRequired", "The password must be changed.")
			}
			return there
		}
		d := newDriver(t, redfish.Options{})
		_, err := d.PowerState(t.Context(), b.node())
		if err == nil || !strings.Contains(err.Error(), "the password has expired") ||
			!strings.Contains(err.Error(), "redfish_password") || !permanent(err) {
			t.Errorf("%s: got %v", at, err)
		}
		asked := b.count("")
		if _, err := d.PowerState(t.Context(), b.node()); err == nil || b.count("") > asked {
			t.Errorf("%s: asked again: %v", at, err)
		}
	}
}

// A BMC that is busy for a moment is asked again; a BMC that stays busy is not waited for.
func TestBusy(t *testing.T) {
	for _, c := range []struct {
		busy int // answers
		want bool
	}{{1, true}, {2, true}, {3, false}, {1000, false}} {
		b, left := newBoard(t), c.busy
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if !isSystem(r) || left == 0 {
				return false
			}
			left--
			w.Header().Set("Retry-After", "3600")
			refuse(w, 503, "ServiceTemporarilyUnavailable", "later")
			return true
		}
		_, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), b.node())
		if (err == nil) != c.want || err != nil && !patient(err) {
			t.Errorf("busy %d times: %v", c.busy, err)
		}
	}
}
