package redfish_test

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
)

// TestPaddedStrings: firmware that pads its strings with NUL, or has worse in them, is
// read as if it had not.
func TestPaddedStrings(t *testing.T) {
	b := newBoard(t)
	b.extra = map[string]any{"Manufacturer": "Acme\x00\x00", "SerialNumber": "\x1b[2JS1\x7f\b", "Model": "M\t1"}
	got, err := newDriver(t, redfish.Options{}).System(t.Context(), b.node())
	if err != nil || got.Manufacturer != "Acme" || got.Serial != "[2JS1" || got.Model != "M 1" {
		t.Errorf("%q, %q, %q, %v", got.Manufacturer, got.Serial, got.Model, err)
	}
}
