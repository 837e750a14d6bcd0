package main

import (
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/qemu"
)

// TestCombinationsCoverEveryPair wants any two values of different kinds in
// one machine, unless no such machine could boot.
func TestCombinationsCoverEveryPair(t *testing.T) {
	all := combinations()
	has := func(what string, match func(combination) bool) {
		if !slices.ContainsFunc(all, match) {
			t.Errorf("no machine has %s", what)
		}
	}
	for _, firmware := range firmwares {
		for _, bus := range buses {
			if firmware == qemu.UEFI && slices.Contains(biosOnly, bus) {
				continue
			}
			has(string(firmware)+" and "+string(bus), func(c combination) bool { return c.firmware == firmware && c.bus == bus })
		}
		for _, card := range cards {
			has(string(firmware)+" and "+card, func(c combination) bool { return c.firmware == firmware && c.card == card })
		}
	}
	for _, bus := range buses {
		for _, card := range cards {
			has(string(bus)+" and "+card, func(c combination) bool { return c.bus == bus && c.card == card })
		}
	}
}

func TestCombinationsCanBoot(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range combinations() {
		if c.firmware == qemu.UEFI && slices.Contains(biosOnly, c.bus) {
			t.Errorf("%s: its firmware cannot boot from its disk", c.name())
		}
		if seen[c.name()] {
			t.Errorf("%s is there twice", c.name())
		}
		seen[c.name()] = true
	}
}
