package ipmi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// A vendor method sends exactly these commands to the BMC, or is refused with a reason.
func TestVendorMethods(t *testing.T) {
	for _, c := range []struct {
		method string
		args   map[string]any
		want   string // commands with their data, or the refusal
	}{
		{"send_raw", map[string]any{"raw_bytes": "0x00 0x04 0x0f"}, "Chassis Identify [15]"},
		{"send_raw", map[string]any{"raw_bytes": "0 1"}, "Get Chassis Status []"},
		{"send_raw", nil, "Parameter raw_bytes (string of bytes) was not specified."},
		{"send_raw", map[string]any{"raw_bytes": 4.0}, "Parameter raw_bytes (string of bytes) was not specified."},
		{"send_raw", map[string]any{"raw_bytes": "0x00 0x104"}, `not "0x104"`},
		{"send_raw", map[string]any{"raw_bytes": "0x00"},
			"must be a network function (0x00 to 0x3f), a command and its data"},
		{"send_raw", map[string]any{"raw_bytes": "0x40 1"},
			"must be a network function (0x00 to 0x3f), a command and its data"},
		{"send_raw", map[string]any{"raw_bytes": strings.Repeat("0 ", 65)}, "64 bytes at the most"},
		{"bmc_reset", nil, "Warm Reset []"},
		{"bmc_reset", map[string]any{"warm": "True"}, "Warm Reset []"},
		{"bmc_reset", map[string]any{"warm": false}, "Cold Reset []"},
		{"bmc_reset", map[string]any{"warm": "tepid"}, "not tepid"},
	} {
		b := newBoard(t)
		got := ""
		b.set(func() {
			b.hook = func(cmd types.Command, req []byte) ([]byte, types.CompletionCode, bool) {
				mine := false
				for _, known := range []types.Command{types.CommandChassisIdentify, types.CommandGetChassisStatus,
					types.CommandWarmReset, types.CommandColdReset} {
					mine = mine || known == cmd
				}
				if mine {
					b.set(func() { got += fmt.Sprintf("%s %v", cmd.Name, req) })
				}
				return nil, types.CodeOK, mine
			}
		})
		d := newDriver(t, ipmi.Options{SendRaw: true})
		err := d.CheckVendor(t.Context(), b.node(), c.method, c.args)
		if err == nil {
			_, err = d.CallVendor(t.Context(), b.node(), c.method, c.args)
		}
		var r *node.Refusal
		b.set(func() {
			if err == nil && got != c.want || err != nil &&
				(!errors.As(err, &r) || got != "" || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s %v: sent %q, %v, want %s", c.method, c.args, got, err, c.want)
			}
		})
	}
}

// Raw commands are refused where they are off, as a method and as a step; where they are on, the step sends them.
func TestSendRawStep(t *testing.T) {
	raw := node.Step{Interface: "vendor", Step: "send_raw", Args: map[string]any{"raw_bytes": "0x00 0x04 0x0f"}}
	for _, on := range []bool{false, true} {
		b := newBoard(t)
		sent := 0
		b.set(func() {
			b.hook = func(cmd types.Command, _ []byte) ([]byte, types.CompletionCode, bool) {
				if cmd == types.CommandChassisIdentify {
					b.set(func() { sent++ })
				}
				return nil, types.CodeOK, cmd == types.CommandChassisIdentify
			}
		})
		d := newDriver(t, ipmi.Options{SendRaw: on})
		offer := d.Steps(b.node())[0]
		report, err := d.DoStep(t.Context(), b.node(), raw, "")
		_, called := d.CallVendor(t.Context(), b.node(), "send_raw", raw.Args)
		count := 0
		b.set(func() { count = sent })
		if on {
			if err != nil || called != nil || !report.Done || count != 2 || offer.Refusal != "" {
				t.Errorf("on: %+v, %v, %v, sent %d times, %+v", report, err, called, count, offer)
			}
			raw.Step = "send_cooked"
			if _, err := d.DoStep(t.Context(), b.node(), raw, ""); err == nil {
				t.Error("a step that is not known was done")
			}
			continue
		}
		for _, err := range []error{err, called, d.CheckVendor(t.Context(), b.node(), "send_raw", raw.Args)} {
			var r *node.Refusal
			if !errors.As(err, &r) || !strings.Contains(err.Error(), "--ipmi-send-raw") {
				t.Errorf("off: %v", err)
			}
		}
		if count != 0 || !strings.Contains(offer.Refusal, "--ipmi-send-raw") {
			t.Errorf("off: sent %d times, %+v", count, offer)
		}
	}
}

// A BMC without a light, or without an answer about it, is not in trouble.
func TestLightThatIsMissing(t *testing.T) {
	b := newBoard(t)
	b.set(func() {
		b.hook = func(cmd types.Command, _ []byte) ([]byte, types.CompletionCode, bool) {
			if cmd == types.CommandGetChassisStatus {
				return []byte{0, 0, 0}, types.CodeOK, true
			}
			return nil, types.CodeInvalidCommand, cmd == types.CommandChassisIdentify
		}
	})
	d := newDriver(t, ipmi.Options{})
	if state, err := d.IndicatorState(t.Context(), b.node(), "chassis", "identify"); err != nil ||
		state != node.IndicatorUnknown {
		t.Errorf("the light is %q, %v", state, err)
	}
	err := d.SetIndicatorState(t.Context(), b.node(), "chassis", "identify", node.IndicatorOn)
	var r *node.Refusal
	if !errors.As(err, &r) ||
		!strings.Contains(err.Error(),
			"the BMC cannot turn the chassis' light on: the BMC answered Chassis Identify with 0xc1") {
		t.Errorf("no light: %v", err)
	}
}
