package bmc_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestNew(t *testing.T) {
	var all []string
	for _, h := range node.HardwareTypes() {
		all = append(all, h.Name)
	}
	s, err := bmc.New(append(all, "redfish"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if s.Types()[name] == nil {
			t.Errorf("no driver of %s", name)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err = bmc.New([]string{"redfish", "ilo"}, slog.New(slog.DiscardHandler))
	if want := `hardware type "ilo" is not known: choose from fake-hardware, ipmi, redfish`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The driver that is not built says so to every call, and not to be asked again.
func TestUnbuilt(t *testing.T) {
	s, err := bmc.New([]string{"ipmi"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d, n := s.Types()["ipmi"], node.Node{DriverInfo: map[string]any{}}
	for _, address := range []any{nil, "", 7} {
		n.DriverInfo["ipmi_address"] = address
		if err := d.Validate(n); err == nil || !strings.Contains(err.Error(), "ipmi_address") {
			t.Errorf("address %v: got %v, want ipmi_address named", address, err)
		}
	}
	n.DriverInfo["ipmi_address"] = "10.0.0.1"
	if err := d.Validate(n); err != nil {
		t.Error(err)
	}
	_, power := d.PowerState(t.Context(), n)
	_, _, device := d.BootDevice(t.Context(), n)
	_, mode := d.BootMode(t.Context(), n)
	_, system := d.System(t.Context(), n)
	for _, err := range []error{
		power, device, mode, system, d.SetPower(t.Context(), n, node.PowerOn),
		d.SetBootDevice(t.Context(), n, "pxe", false), d.SetBootMode(t.Context(), n, "uefi"),
	} {
		var p interface{ Permanent() bool }
		if err == nil || !strings.HasPrefix(err.Error(), "ipmi: the driver is not built yet") || !errors.As(err, &p) || !p.Permanent() {
			t.Errorf("got %v, want that the driver is not built, for good", err)
		}
	}
}
