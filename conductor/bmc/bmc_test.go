package bmc_test

import (
	"log/slog"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestNew(t *testing.T) {
	var all []string
	for _, h := range node.HardwareTypes() {
		all = append(all, h.Name)
	}
	s, err := bmc.New(append(all, "redfish"), bmc.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if s.Types()[name] == nil {
			t.Errorf("no driver of %s", name)
		}
	}
	for _, name := range node.VendorTypes() {
		if s.Types()[name] != s.Types()["redfish"] {
			t.Errorf("%s has a driver beside redfish's, and so another session with the same BMC", name)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err = bmc.New([]string{"redfish", "snmp"}, bmc.Options{Log: slog.New(slog.DiscardHandler)})
	if want := `hardware type "snmp" is not known: choose from fake-hardware, idrac, ilo, ilo5, ipmi, irmc, ` +
		"manual-management, redfish, xclarity"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
