//go:build e2e

package osimage

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// hostAlias is where QEMU's user network shows the host's loopback to the guest.
const hostAlias = "10.0.2.2"

// emulated is one QEMU process under test.
type emulated struct {
	t       *testing.T
	began   time.Time
	console string
	monitor io.Writer
	exited  chan error
}

// emulate starts QEMU without acceleration. It is killed, at the latest, when the test ends.
func emulate(t *testing.T, firmware string, memory int, args ...string) *emulated {
	t.Helper()
	dir := t.TempDir()
	m := &emulated{t: t, began: time.Now(), console: filepath.Join(dir, "console"), exited: make(chan error, 1)}
	all := []string{
		"-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand", "-smp", "1", "-m", fmt.Sprint(memory),
		"-nodefaults", "-display", "none", "-no-reboot", "-serial", "file:" + m.console, "-monitor", "stdio",
	}
	if firmware == "uefi" {
		vars := filepath.Join(dir, "vars.fd")
		copyFile(t, "/usr/share/OVMF/OVMF_VARS_4M.fd", vars)
		all = append(all, "-drive", "if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd",
			"-drive", "if=pflash,format=raw,unit=1,file="+vars)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", append(all, args...)...)
	cmd.Stderr = t.Output()
	// A test run that is killed or times out runs no clean-up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if m.monitor, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { m.exited <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			text, err := os.ReadFile(m.console)
			t.Logf("console (%v):\n%s", err, text)
		}
	})
	return m
}

// wait returns the first console line containing text, and the time it took since power-on.
func (m *emulated) wait(text string, limit time.Duration) string {
	m.t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		f, err := os.Open(m.console)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if line := lines.Text(); strings.Contains(line, text) {
				m.t.Logf("%5.1f s: %s", time.Since(m.began).Seconds(), strings.TrimSpace(line))
				_ = f.Close()
				return line
			}
		}
		_ = f.Close()
	}
	m.t.Fatalf("console never said %q within %s", text, limit)
	return ""
}

// waitOff waits until the machine has switched itself off.
func (m *emulated) waitOff(limit time.Duration) {
	m.t.Helper()
	select {
	case err := <-m.exited:
		if err != nil {
			m.t.Fatalf("QEMU: %v", err)
		}
		m.t.Logf("%5.1f s: off", time.Since(m.began).Seconds())
	case <-time.After(limit):
		m.t.Fatalf("machine is still on after %s", limit)
	}
}

// phoneServer receives phone calls on loopback. The URL is the one a guest uses.
func phoneServer(t *testing.T) (calls <-chan url.Values, guestURL string) {
	t.Helper()
	got := make(chan url.Values, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		got <- r.PostForm
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return got, "http://" + net.JoinHostPort(hostAlias, port) + "/phone/$INSTANCE_ID"
}

func receive(t *testing.T, calls <-chan url.Values, limit time.Duration) url.Values {
	t.Helper()
	select {
	case form := <-calls:
		return form
	case <-time.After(limit):
		t.Fatalf("no phone call within %s", limit)
		return nil
	}
}

// configDrive makes an ISO 9660 config drive and returns its path.
func configDrive(t *testing.T, hostname, uuid, userData string) string {
	t.Helper()
	dir := t.TempDir()
	latest := filepath.Join(dir, "drive", "openstack", "latest")
	meta, err := json.Marshal(map[string]any{
		"uuid": uuid, "hostname": hostname, "meta": map[string]string{"role": "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(latest, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"meta_data.json": string(meta), "user_data": userData} {
		if err := os.WriteFile(filepath.Join(latest, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "drive.iso")
	xorriso := []string{"-as", "mkisofs", "-quiet", "-V", driveLabel, "-J", "-r", "-o", out, filepath.Join(dir, "drive")}
	if _, err := (buildcache.Tool{Name: "xorriso", Package: "xorriso", Args: xorriso}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

// driveLabel is what OpenStack labels config drives.
const driveLabel = "config-2"

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// cacheDir is the shared cache: kernels and Debian are not downloaded anew for every run.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := buildcache.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func testLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// diskArgs attaches a copy-on-write view of an image as first disk, so that the cached
// file is never written.
func diskArgs(format, path string) []string {
	return []string{"-drive", "if=none,id=os,snapshot=on,format=" + format + ",file=" + path}
}
