package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// asFerrite makes the test binary the program itself, for the shells that run the pages.
const asFerrite = "FERRITE_DOCS_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(asFerrite) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestDocsRun: the commands of each page that are marked to be run succeed, one after the other, against a conductor
// with fake hardware.
func TestDocsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a conductor for each page")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: ", err)
	}
	ran, run := 0, 0
	for path, page := range pages(t) {
		var script strings.Builder
		for _, b := range blocks(page) {
			if b.run() {
				fmt.Fprintf(&script, "# %s:%d\n%s\n", path, b.line, b.script)
				found, err := calls(b.script)
				if err != nil {
					t.Errorf("%s:%d: %v", path, b.line, err)
				}
				run += len(found)
			}
		}
		if script.Len() == 0 {
			continue
		}
		ran++
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			runPage(t, bash, script.String())
		})
	}
	t.Logf("docs: %d commands run", run)
	if ran < 10 {
		t.Errorf("%d pages have commands to run; expected ten or more", ran)
	}
}

// prologue ends a script at its first failure, and its background jobs with it.
const prologue = "set -euo pipefail; trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n"

// runPage runs a page's commands. Folders, address and port of a real server are replaced by the test's own.
func runPage(t *testing.T, bash, script string) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, "bin/ferrite")); err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	port := servetest.FreePort(t)
	script = strings.NewReplacer(
		"/etc/ferrite", filepath.Join(dir, "etc"),
		"/var/lib/ferrite", filepath.Join(dir, "data"),
		"/var/backups", filepath.Join(dir, "backups"),
		"10.0.0.1:6385", "127.0.0.1:"+port,
		"127.0.0.1:6385", "127.0.0.1:"+port,
		"CN=10.0.0.1", "CN=127.0.0.1",
		"IP:10.0.0.1", "IP:127.0.0.1",
	).Replace(script)

	env := append(os.Environ(), asFerrite+"=1", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir,
		"FERRITE_URL=http://127.0.0.1:"+port, "SOURCES="+sources)
	if !strings.Contains(script, "ferrite serve ") {
		serveFake(t, self, dir, port, env)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, bash, "-c", prologue+script)
	shell.Dir, shell.Env = filepath.Join(dir, "work"), env
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.WaitDelay = 10 * time.Second
	if out, err := shell.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nof these commands:\n%s", err, out, script)
	}
}

// serveFake runs a conductor with fake hardware until the test ends.
func serveFake(t *testing.T, self, dir, port string, env []string) {
	t.Helper()
	var log bytes.Buffer
	c := exec.CommandContext(t.Context(), self, "serve", //nolint:gosec // the test binary itself
		"--data-dir", filepath.Join(dir, "data"),
		"--api-address", "127.0.0.1:"+port, "--hardware-types", "fake-hardware,redfish,ipmi", "--log-level", "error")
	c.Env, c.Stderr = env, &log
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() })
	awaitAPI(t, port, &log)
}

// awaitAPI waits until a conductor answers.
func awaitAPI(t *testing.T, port string, log *bytes.Buffer) {
	t.Helper()
	for range 300 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/v1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the conductor does not answer: %s", log.String())
}
