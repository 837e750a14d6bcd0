package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab"
)

// TestReport: the end of a lab names its parts, and each folder that stays with the command that removes it.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "console"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "console", "m.log"), make([]byte, 2_600_000), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	state := lab.State{ID: "l1", Namespace: "ferrite-l1", Machines: make([]lab.MachineState, 2),
		Children: make([]lab.ChildState, 1)}
	if err := report(&out, state, dir, filepath.Join(dir, "no-cache")); err != nil {
		t.Fatal(err)
	}
	want := "ended lab l1: its 2 machines with their disks, 1 other processes, network namespace ferrite-l1\n" +
		"stays: " + dir + ", 2.6 MB of consoles and logs; to remove it: rm -r " + dir + "\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
