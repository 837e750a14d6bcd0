package lab

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/google/go-cmp/cmp"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestComplete(t *testing.T) {
	c, err := Config{ID: "demo", Dir: "/var/lab", Machines: []MachineConfig{
		{Spec: qemu.Spec{
			Name: "node-0", Disks: []qemu.Disk{{}, {Format: "qcow2"}},
			NICs: []qemu.NIC{{}, {Unplugged: true}, {Model: "e1000e"}},
		}},
		{Spec: qemu.Spec{Name: "node-1", UUID: "u", NICs: []qemu.NIC{{MAC: "52:54:00:00:00:01"}}}, Username: "root",
			Password: "x"},
	}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	want := Config{ID: "demo", Dir: "/var/lab", ImagesDir: "/var/lab/images", Machines: []MachineConfig{
		{Spec: qemu.Spec{
			Name: "node-0", UUID: "5f3fc1a2-97ca-5b02-b1c1-1f3d84a4f3a0", Dir: "/var/lab/run",
			ConsoleLog: "/var/lab/console/node-0.log",
			Disks: []qemu.Disk{
				{Path: "/var/lab/disks/node-0-0.raw"}, {Path: "/var/lab/disks/node-0-1.qcow2", Format: "qcow2"},
			},
			NICs: []qemu.NIC{{MAC: "52:54:00:5f:00:00", Tap: "tap0"}, {MAC: "52:54:00:5f:00:01", Unplugged: true},
				{MAC: "52:54:00:5f:00:02", Tap: "tap1", Model: "e1000e"}},
		}, Username: "admin", Password: "node-0-password"},
		{Spec: qemu.Spec{
			Name: "node-1", UUID: "u", Dir: "/var/lab/run", ConsoleLog: "/var/lab/console/node-1.log",
			NICs: []qemu.NIC{{MAC: "52:54:00:00:00:01", Tap: "tap2"}},
		}, Username: "root", Password: "x"},
	}}
	// The UUID and the byte of it in the MAC follow from the lab's id.
	want.Machines[0].UUID = c.Machines[0].UUID
	for i := range want.Machines[0].NICs {
		want.Machines[0].NICs[i].MAC = "52:54:00:" + c.Machines[0].UUID[:2] + want.Machines[0].NICs[i].MAC[11:]
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if c.taps() != 3 {
		t.Errorf("%d taps", c.taps())
	}
	other, err := Config{Machines: []MachineConfig{{Spec: qemu.Spec{Name: "node-0"}}}}.complete()
	if err != nil || other.ID == "" || other.Machines[0].UUID == c.Machines[0].UUID {
		t.Errorf("another lab: %+v, %v", other, err)
	}
}

func TestCompleteRefuses(t *testing.T) {
	twice := []MachineConfig{{Spec: qemu.Spec{Name: "a"}}, {Spec: qemu.Spec{Name: "a"}}}
	for want, c := range map[string]Config{
		"lab id":     {ID: "Not An Id"},
		"two":        {Machines: twice},
		"at most 79": {Machines: make([]MachineConfig, 80)},
	} {
		if _, err := c.complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestHistory(t *testing.T) {
	h := newHistory[int]()
	is := func(n int) func(int) bool { return func(i int) bool { return i == n } }
	h.add(1)
	if got, err := h.wait(t.Context(), is(1)); err != nil || got != 1 {
		t.Errorf("past item: %d, %v", got, err)
	}
	go func() {
		for i := range maxHistory + 10 {
			h.add(i + 2)
		}
	}()
	if got, err := h.wait(t.Context(), is(maxHistory+11)); err != nil || got != maxHistory+11 {
		t.Errorf("item to come: %d, %v", got, err)
	}
	if all := h.all(); len(all) != maxHistory || all[0] != 12 {
		t.Errorf("%d remembered, the first %d", len(all), all[0])
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := h.wait(ctx, is(-1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("item that never comes: %v", err)
	}
}

func TestParseStat(t *testing.T) {
	rest := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"
	for _, name := range []string{"sh", "a b", ") R 1 (", ""} {
		state, started, err := parseStat("99 (" + name + ")" + rest)
		if err != nil || state != "S" || started != 4711 {
			t.Errorf("%q: %s %d %v", name, state, started, err)
		}
	}
	for _, bad := range []string{"", "1 (sh", "1 (sh) S 1", "1 (sh)" + strings.ReplaceAll(rest, "4711", "x")} {
		if _, _, err := parseStat(bad); err == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("1 (systemd) S 0 1 1 0 -1 4194560 27113 2219 103 38 14 20 3 4 20 0 1 0 26 171560960 3107 18446744073709551615")
	f.Fuzz(func(_ *testing.T, text string) { parseStat(text) })
}

func TestIdentify(t *testing.T) {
	self, err := identify(os.Getpid())
	if err != nil || !self.alive() {
		t.Fatalf("%+v, %v", self, err)
	}
	other := self
	other.Started++
	if other.alive() {
		t.Error("a process with our id that started later is taken for us")
	}
	// Another process under a recorded id must not be ended.
	if err := other.end(t.Context(), 0, time.Second); err != nil {
		t.Error(err)
	}
}

func TestState(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadState(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no lab: %v", err)
	}
	if err := Down(t.Context(), dir, quiet()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("down without a lab: %v", err)
	}
	want := State{
		ID: "x", Process: Process{1, 2}, Machines: []MachineState{{Name: "m", MACs: []string{"a"}, Process: &Process{3, 4}}},
		Children: []ChildState{{"c", "log", Process{5, 6}}},
	}
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadState(dir)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("state %v (-want +got):\n%s", err, diff)
	}
	info, err := os.Stat(filepath.Join(dir, stateFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := New(t.Context(), Config{ID: "x", Dir: dir, Log: quiet()}); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second lab in the folder: %v", err)
	}
	self, err := identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	want.Process = self
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	if err := Down(t.Context(), dir, quiet()); err == nil || !strings.Contains(err.Error(), "this very process") {
		t.Errorf("down of our own lab: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, stateFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadState(dir); err == nil {
		t.Error("half a state was read")
	}
}
