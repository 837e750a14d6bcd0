package boot

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// mounter records mounts and fails on one.
type mounter struct {
	targets []string
	fail    string
}

func (m *mounter) Mount(_, target, _ string) error {
	m.targets = append(m.targets, target)
	if target == m.fail {
		return errors.New("mount " + target + ": no")
	}
	return nil
}

func TestMountsGoesOnAfterAFailure(t *testing.T) {
	m := &mounter{fail: "/proc"}
	err := Mounts(m)
	if err == nil || err.Error() != "mount /proc: no" {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"/dev", "/proc", "/sys", "/run", "/tmp", "/dev/pts"}, m.targets); diff != "" {
		t.Error(diff)
	}
}

// dead is a list of dead children.
type dead struct {
	mu     sync.Mutex
	pids   []int
	reaped []int
}

func (d *dead) DeadChild() (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pids) == 0 {
		return 0, nil
	}
	return d.pids[0], nil
}

func (d *dead) ReapChild(pid int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pids, d.reaped = d.pids[1:], append(d.reaped, pid)
	return nil
}

func TestReaperLeavesOwnChildren(t *testing.T) {
	d := &dead{pids: []int{10, 11, 12}}
	r := NewReaper(d, quiet())
	r.own[11] = true
	r.sweep()
	if diff := cmp.Diff([]int{10}, d.reaped); diff != "" {
		t.Error(diff)
	}
	delete(r.own, 11)
	r.sweep()
	if diff := cmp.Diff([]int{10, 11, 12}, d.reaped); diff != "" {
		t.Error(diff)
	}
}

// TestReaperRun runs real programs beside a reaper: each must still get its
// own exit status.
func TestReaperRun(t *testing.T) {
	r := NewReaper(sys.Linux{}, quiet())
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.Reap(ctx) })
	for range 20 {
		if err := r.Run(exec.Command("/bin/true")); err != nil {
			t.Errorf("true: %v", err)
		}
		var exit *exec.ExitError
		if err := r.Run(exec.Command("/bin/false")); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("false: %v", err)
		}
	}
	if err := r.Run(exec.Command("/nonexistent")); err == nil {
		t.Error("a program that is not there ran")
	}
	cancel()
	wg.Wait()
}

// pool becomes ready after a while, or never.
type pool struct {
	start time.Time
	after time.Duration
	seed  [64]byte
	bits  int
}

func (p *pool) EntropyReady() (bool, error) {
	return p.after >= 0 && time.Since(p.start) >= p.after, nil
}

func (p *pool) AddEntropy(seed [64]byte, bits int) error {
	p.seed, p.bits = seed, bits
	return nil
}

func TestEntropy(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration
		bits  int
		took  time.Duration
		log   string
	}{
		"at once": {0, 0, 0, ""},
		"late":    {2 * time.Second, 0, 2 * time.Second, ""},
		"never":   {-1, 256, entropyPatience, "random pool is not ready"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := &pool{start: time.Now(), after: tc.after}
				if err := Entropy(t.Context(), p, slog.New(slog.NewTextHandler(&out, nil))); err != nil {
					t.Fatal(err)
				}
				took := time.Since(p.start)
				if p.bits != tc.bits || took < tc.took || took > tc.took+time.Second || !strings.Contains(out.String(), tc.log) {
					t.Errorf("bits %d after %v, log %q", p.bits, took, out.String())
				}
			})
		})
	}
}

func TestJitterDiffers(t *testing.T) {
	first, second := jitter(time.Now), jitter(time.Now)
	if first == second {
		t.Error("two runs gave the same seed")
	}
}

// ttys hands out one end of a pipe as the terminal.
type ttys struct{ tty *os.File }

func (k ttys) OpenTerminal(string) (*os.File, error) { return k.tty, nil }

func (k ttys) OnTerminal(cmd *exec.Cmd, _ *os.File) { cmd.Stdout = nil }

func TestShellWaitsForEnter(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // a test's pipe
	var taken []string
	take := func(console string) func() {
		taken = append(taken, console)
		return func() { taken = append(taken, "given back") }
	}
	s := Shell{Kernel: ttys{in}, Reaper: NewReaper(sys.Linux{}, quiet()), Log: quiet(),
		Paths: []string{"/nonexistent", "/bin/true"}, Take: take}
	done := make(chan error, 1)
	go func() { done <- s.once(t.Context(), "tty", firstProgram(s.Paths)) }()
	select {
	case err := <-done:
		t.Fatalf("a shell ran before Enter: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if _, err := out.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("no shell after Enter")
	}
	if diff := cmp.Diff([]string{"tty", "given back"}, taken); diff != "" {
		t.Error(diff)
	}
}

func TestShellAbsent(t *testing.T) {
	s := Shell{Log: quiet(), Paths: []string{"/nonexistent"}}
	if err := s.Serve(t.Context(), "tty"); err != nil {
		t.Error(err)
	}
}
