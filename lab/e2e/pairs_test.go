package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pair is two kinds of hardware in one machine.
type pair struct{ one, other string }

// wanted are the kinds of hardware that the matrix promises, and which two of
// them no machine can have.
var (
	wantedFirmwares = []string{"uefi", "bios"}
	wantedBuses     = []string{"virtio", "scsi", "nvme", "sata", "usb", "megasas"}
	wantedCards     = []string{"virtio card", "e1000 card", "e1000e card", "vmxnet3 card", "rtl8139 card"}
	excluded        = map[pair]string{{"uefi", "megasas"}: "OVMF has no driver for MegaSAS, and boots from none"}
)

// TestCombinationsCoverEveryPair wants any two kinds of hardware in one
// machine, unless no such machine could boot; and no machine of such two.
func TestCombinationsCoverEveryPair(t *testing.T) {
	want := map[pair]bool{}
	for _, factors := range [][2][]string{{wantedFirmwares, wantedBuses}, {wantedFirmwares, wantedCards},
		{wantedBuses, wantedCards}} {
		for _, one := range factors[0] {
			for _, other := range factors[1] {
				if p := (pair{one, other}); excluded[p] == "" {
					want[p] = true
				}
			}
		}
	}
	got := map[pair]bool{}
	for _, c := range combinations() {
		firmware, bus, card := string(c.firmware), string(c.bus), c.card+" card"
		for _, p := range []pair{{firmware, bus}, {firmware, card}, {bus, card}} {
			got[p] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMachinesAreNamedApart wants each machine once, under a name of its own.
func TestMachinesAreNamedApart(t *testing.T) {
	var names []string
	for _, c := range matrix() {
		names = append(names, c.name)
	}
	slices.Sort(names)
	if once := slices.Compact(slices.Clone(names)); len(once) != len(names) {
		t.Errorf("a name is there twice among %v", names)
	}
}

// TestHardwareIsKnownWhenFound wants to know of each card by which driver it is found.
func TestHardwareIsKnownWhenFound(t *testing.T) {
	for _, card := range cards {
		if drivers[card] == "" {
			t.Errorf("no driver is told for the card %s", card)
		}
	}
}
