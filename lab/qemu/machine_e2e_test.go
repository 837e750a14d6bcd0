//go:build e2e

package qemu

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu/qemutest"
	"github.com/google/go-cmp/cmp"
)

// recorder remembers console lines and lets a test wait for one.
type recorder struct {
	mu    sync.Mutex
	lines []Line
	more  chan struct{}
}

func newRecorder() *recorder { return &recorder{more: make(chan struct{}, 1)} }

func (r *recorder) add(l Line) {
	r.mu.Lock()
	r.lines = append(r.lines, l)
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
}

func (r *recorder) wait(t *testing.T, start int, text string) Line {
	t.Helper()
	late := time.After(60 * time.Second)
	for {
		r.mu.Lock()
		i := slices.IndexFunc(r.lines, func(l Line) bool { return l.Start == start && strings.Contains(l.Text, text) })
		if i >= 0 {
			defer r.mu.Unlock()
			return r.lines[i]
		}
		seen := slices.Clone(r.lines)
		r.mu.Unlock()
		select {
		case <-r.more:
		case <-late:
			t.Fatalf("start %d never said %q; it said %v", start, text, seen)
		}
	}
}

func (r *recorder) said(start int, text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.lines, func(l Line) bool { return l.Start == start && strings.Contains(l.Text, text) })
}

// machine makes a machine with empty disks.
func machine(t *testing.T, spec Spec) (*Machine, *recorder) {
	t.Helper()
	spec.Name, spec.Dir = "m", t.TempDir()
	spec.ConsoleLog = filepath.Join(spec.Dir, "console.log")
	for i := range spec.Disks {
		d := &spec.Disks[i]
		d.Path, d.SizeMB = filepath.Join(spec.Dir, "disk"+string(rune('0'+i))), 16
		if err := CreateDisk(t.Context(), *d); err != nil {
			t.Fatal(err)
		}
	}
	rec := newRecorder()
	m, err := New(spec, Options{Start: (*exec.Cmd).Start, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		OnLine: rec.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		if err := m.Reset(context.Background(), ResetOn); !errors.Is(err, ErrClosed) {
			t.Errorf("closed machine: %v", err)
		}
	})
	return m, rec
}

// withGuest is a machine with a first disk that prints a line and acts.
func withGuest(t *testing.T, spec Spec, act qemutest.Act) (*Machine, *recorder) {
	t.Helper()
	m, rec := machine(t, spec)
	sector, err := qemutest.BootSector("guest on the disk", act)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.spec.Disks[0].Path, append(sector, make([]byte, 16<<20-512)...), 0o600); err != nil {
		t.Fatal(err)
	}
	return m, rec
}

func do(t *testing.T, m *Machine, kind ResetType) {
	t.Helper()
	start := time.Now()
	if err := m.Reset(t.Context(), kind); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	t.Logf("%s took %s", kind, time.Since(start))
}

func waitPower(t *testing.T, m *Machine, want Power) {
	t.Helper()
	for range 300 {
		if m.Power() == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("power is %s, expected %s; %v", m.Power(), want, m.Err())
}

func biosDisk() Spec { return Spec{Firmware: BIOS, Disks: []Disk{{}}} }

func TestPowerOnAndForceOff(t *testing.T) {
	m, rec := withGuest(t, biosDisk(), qemutest.Halt())
	do(t, m, ResetOn)
	pid := m.current().cmd.Process.Pid
	t.Logf("disk after %s", rec.wait(t, 1, "guest on the disk").After)
	do(t, m, ResetOn)
	do(t, m, ResetNmi)
	do(t, m, ResetForceOff)
	if m.Power() != Off || m.Err() != nil {
		t.Errorf("power %s, %v", m.Power(), m.Err())
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d after power off: %v", pid, err)
	}
	do(t, m, ResetForceOff)
	if err := m.Reset(t.Context(), ResetForceRestart); !errors.Is(err, ErrPoweredOff) {
		t.Errorf("restart while off: %v", err)
	}
	do(t, m, ResetPushPowerButton)
	rec.wait(t, 2, "guest on the disk")
	do(t, m, ResetForceRestart)
	rec.wait(t, 3, "guest on the disk")
	log, err := os.ReadFile(m.spec.ConsoleLog)
	if err != nil || strings.Count(string(log), "guest on the disk") != 3 || strings.Count(string(log), "--- start") != 3 {
		t.Errorf("console log: %v\n%s", err, log)
	}
}

func TestGuestPowersOff(t *testing.T) {
	m, rec := withGuest(t, biosDisk(), qemutest.PowerOff())
	do(t, m, ResetOn)
	rec.wait(t, 1, "guest on the disk")
	waitPower(t, m, Off)
	if starts, _ := m.Starts(); starts != 1 || m.Err() != nil {
		t.Errorf("%d starts, %v", starts, m.Err())
	}
}

func TestGuestResetsAndTakesTheNewOrder(t *testing.T) {
	m, rec := withGuest(t, biosDisk(), qemutest.Reset())
	if err := m.SetBoot(Boot{Target: TargetHdd, Enabled: Once, Firmware: BIOS}); err != nil {
		t.Fatal(err)
	}
	do(t, m, ResetOn)
	if got := m.Boot().Enabled; got != Disabled {
		t.Errorf("override after its start is %s", got)
	}
	rec.wait(t, 3, "guest on the disk")
	if m.Power() != On {
		t.Errorf("power %s during resets", m.Power())
	}
	do(t, m, ResetForceOff)
	starts, _ := m.Starts()
	time.Sleep(300 * time.Millisecond)
	if after, _ := m.Starts(); after != starts {
		t.Errorf("started again after power off")
	}
}

func TestPowerButton(t *testing.T) {
	m, rec := withGuest(t, biosDisk(), qemutest.WaitButton())
	do(t, m, ResetOn)
	rec.wait(t, 1, "guest on the disk")
	do(t, m, ResetGracefulRestart)
	rec.wait(t, 2, "guest on the disk")
	do(t, m, ResetGracefulShutdown)
	waitPower(t, m, Off)
	if starts, _ := m.Starts(); starts != 2 {
		t.Errorf("%d starts", starts)
	}
}

func TestProcessKilledFromOutside(t *testing.T) {
	m, rec := withGuest(t, biosDisk(), qemutest.Halt())
	do(t, m, ResetOn)
	rec.wait(t, 1, "guest on the disk")
	if err := m.current().cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitPower(t, m, Off)
	if m.Err() == nil {
		t.Error("machine went off by itself and does not say so")
	}
	t.Log(m.Err())
	do(t, m, ResetOn)
	rec.wait(t, 2, "guest on the disk")
}

func TestQEMURefusesToStart(t *testing.T) {
	m, _ := machine(t, biosDisk())
	if err := os.Remove(m.spec.Disks[0].Path); err != nil {
		t.Fatal(err)
	}
	err := m.Reset(t.Context(), ResetOn)
	if err == nil || !strings.Contains(err.Error(), m.spec.Disks[0].Path) {
		t.Errorf("started without its disk: %v", err)
	}
	if m.Power() != Off {
		t.Errorf("power %s", m.Power())
	}
}

// TestEveryDevice boots from each bus, under each firmware's eyes, with every
// NIC model plugged in.
func TestEveryDevice(t *testing.T) {
	for _, bus := range buses {
		t.Run(string(bus), func(t *testing.T) {
			spec := Spec{Firmware: BIOS, Disks: []Disk{{Bus: bus}, {Bus: bus, Format: "qcow2"}}}
			for model := range nicDevices {
				spec.NICs = append(spec.NICs,
					NIC{MAC: "52:54:00:00:00:0" + string(rune('1'+len(spec.NICs))), Model: model, OptionROM: model == "virtio"})
			}
			m, rec := withGuest(t, spec, qemutest.Halt())
			do(t, m, ResetOn)
			t.Logf("disk after %s", rec.wait(t, 1, "guest on the disk").After)
		})
	}
	t.Run("4096-byte sectors under uefi", func(t *testing.T) {
		m, rec := machine(t,
			Spec{Disks: []Disk{{Bus: BusVirtio, LogicalSectorSize: 4096}, {Bus: BusNVMe, LogicalSectorSize: 4096},
				{Bus: BusSCSI, LogicalSectorSize: 4096}}})
		do(t, m, ResetOn)
		t.Logf("firmware after %s", rec.wait(t, 1, "BdsDxe").After)
		if _, err := os.Stat(varsPath(m.spec)); err != nil {
			t.Error(err)
		}
	})
}

// TestBootFromMedia makes a CD that prints a line, and inserts it in a machine with a disk that prints another.
func TestBootFromMedia(t *testing.T) {
	m, rec := withGuest(t, biosDisk(), qemutest.Halt())
	iso := cd(t)
	if err := m.InsertMedia(t.Context(), iso); err != nil {
		t.Fatal(err)
	}
	if err := m.SetBoot(Boot{Target: TargetCd, Enabled: Once, Firmware: BIOS}); err != nil {
		t.Fatal(err)
	}
	do(t, m, ResetOn)
	t.Logf("cd after %s", rec.wait(t, 1, "guest on the cd").After)
	if rec.said(1, "guest on the disk") {
		t.Error("the disk booted")
	}
	if err := m.EjectMedia(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(t, m, ResetForceRestart)
	rec.wait(t, 2, "guest on the disk")
	if err := m.InsertMedia(t.Context(), iso); err != nil {
		t.Errorf("insert into a running machine: %v", err)
	}
	if err := m.EjectMedia(t.Context()); err != nil {
		t.Errorf("eject from a running machine: %v", err)
	}
	if err := m.InsertMedia(t.Context(), iso+".gone"); err == nil {
		t.Error("an image that is not there was inserted")
	}
	if diff := cmp.Diff("", m.media); diff != "" {
		t.Error(diff)
	}
}

func cd(t *testing.T) string {
	t.Helper()
	sector, err := qemutest.BootSector("guest on the cd", qemutest.Halt())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boot.bin"), sector, 0o600); err != nil {
		t.Fatal(err)
	}
	iso := filepath.Join(t.TempDir(), "cd.iso")
	out, err := exec.CommandContext(t.Context(), "xorriso", "-as", "mkisofs", "-quiet", "-b", "boot.bin", "-no-emul-boot",
		"-boot-load-size", "1", "-o", iso, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return iso
}
