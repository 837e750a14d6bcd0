//go:build e2e

package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stmcginnis/gofish/schemas"
)

func TestE2ETwoLabsSideBySide(t *testing.T) {
	for range 2 {
		l := newLab(t, biosSpec("node-0"), biosSpec("node-1"))
		child, err := l.Start("web", exec.Command("python3", "-m", "http.server", "-b", l.Network.Gateway.String(), "6385",
			"-d", l.config.ImagesDir))
		if err != nil {
			t.Fatal(err)
		}
		address, err := l.Forward("127.0.0.1:0", 6385)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(l.config.ImagesDir, l.ID), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var response *http.Response
		for range 100 {
			if response, err = http.Get("http://" + address + "/" + l.ID); err == nil {
				response.Body.Close()
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("child through the forwarder: %v %v", response, err)
		}
		if got := l.State().Children; len(got) != 1 || got[0].Process.PID != child.PID() {
			t.Errorf("children recorded: %+v", got)
		}
		for _, m := range l.Machines {
			press(t, system(t, l, m), schemas.OnResetType, schemas.OnPowerState)
		}
		counters, err := http.Get(l.ControlURL + "/machines/node-1/counters")
		if err != nil || counters.StatusCode != 200 {
			t.Errorf("control: %v %v", counters, err)
		}
		counters.Body.Close()
	}
}

func TestE2EChild(t *testing.T) {
	l := newLab(t)
	c, err := l.Start("talker", exec.Command("sh", "-c", "echo out; echo err >&2; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(t.Context()); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("exit: %v", err)
	}
	log, err := os.ReadFile(c.Log)
	if err != nil || string(log) != "out\nerr\n" {
		t.Errorf("log %q, %v", log, err)
	}
	if err := errors.Join(c.Stop(), c.Kill()); err != nil {
		t.Errorf("stop of an ended child: %v", err)
	}
	if c, err = l.Start("sleeper", exec.Command("sleep", "600")); err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(); err != nil {
		t.Error(err)
	}
	if len(l.State().Children) != 0 {
		t.Errorf("still recorded: %+v", l.State().Children)
	}
	if _, err := l.Start("nothing", exec.Command("/no/such/program")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing program: %v", err)
	}
}

// TestE2EDown ends a lab of another process: once in order, once after that
// process was killed.
func TestE2EDown(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %v", killed), func(t *testing.T) {
			dir := t.TempDir()
			other := exec.Command(os.Args[0])
			other.Env = append(os.Environ(), helperDir+"="+dir)
			other.Stderr = t.Output()
			out, err := other.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
				t.Fatalf("%q, %v", line, err)
			}
			state, err := ReadState(dir)
			if err != nil {
				t.Fatal(err)
			}
			machine, child := state.Machines[0].Process, state.Children[0].Process
			if machine == nil || !machine.alive() || !child.alive() {
				t.Fatalf("recorded %+v", state)
			}
			waited := make(chan error, 1)
			if killed {
				if err := other.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				other.Wait() // "signal: killed"
			} else {
				go func() { waited <- other.Wait() }()
			}
			start := time.Now()
			if err := Down(t.Context(), dir, slog.New(slog.NewTextHandler(t.Output(), nil))); err != nil {
				t.Fatal(err)
			}
			t.Logf("down in %s", time.Since(start))
			if !killed {
				if err := <-waited; err != nil {
					t.Errorf("the lab's process: %v", err)
				}
			}
			if machine.alive() || child.alive() {
				t.Error("a process outlived its lab")
			}
			assertNothingLeft(t, state.ID, dir)
			if err := Down(t.Context(), dir, quiet()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("down again: %v", err)
			}
		})
	}
}
