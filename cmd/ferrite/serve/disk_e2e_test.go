//go:build e2e

package serve

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// TestE2EFullDisk: a conductor on a full disk says so at /readyz, still deletes on request, with an audit, and goes on
// by itself.
func TestE2EFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Fatalf("mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	c := servetest.Start(t, Command(), dir, "--disk-reserve", "16")
	defer c.End(t)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := strings.Repeat("x", 50_000)
	made, status := 0, 0
	for ; made < 900; made++ {
		var err error
		status, _, err = c.Send("POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": fmt.Sprint("n", made),
			"extra": map[string]any{"blob": blob}})
		if err != nil {
			t.Fatal(err)
		}
		if status != http.StatusCreated {
			break
		}
	}
	if status != http.StatusInsufficientStorage || made == 0 {
		t.Fatalf("after %d nodes: %d", made, status)
	}
	if err := os.WriteFile(ballast+"2", make([]byte, 64<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	c.Call(t, "GET", "/readyz", nil, http.StatusServiceUnavailable)
	c.Call(t, "GET", "/livez", nil, http.StatusOK) // by which a proxy lets the deletes through
	for i := range 5 {
		c.Call(t, "DELETE", fmt.Sprint("/v1/nodes/n", i), nil, http.StatusNoContent)
	}
	_, audit, err := c.Send("GET", "/ferrite/v1/audit?after="+fmt.Sprint(made), nil)
	if err != nil || strings.Count(string(audit), `"DELETE"`) != 5 {
		t.Errorf("the audit has %s, %v", audit, err)
	}
	c.Call(t, "GET", "/readyz", nil, http.StatusServiceUnavailable)
	if err := errors.Join(os.Remove(ballast), os.Remove(ballast+"2")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(servetest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if status, _, _ := c.Send("GET", "/readyz", nil); status == http.StatusOK {
			c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}, http.StatusCreated)
			return
		}
	}
	t.Error("/readyz stays 503")
}
