//go:build e2e

package imagelibrary_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestE2EFullDisk: an image for which the file system has no room is answered with 507, and nothing of it stays; the
// next that fits is taken. It needs root, to mount a small file system.
func TestE2EFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Fatalf("mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	t.Run("images", func(t *testing.T) { fillDisk(t, newRig(t, dir)) }) // ended before the unmount
}

func fillDisk(t *testing.T, r *rig) {
	large := make([]byte, 20<<20)
	for name, size := range map[string]int64{"announced": int64(len(large)), "not announced": -1} {
		_, err := r.Upload(t.Context(), nodeapi.NewImage{Name: "os"}, "", bytes.NewReader(large), size)
		if status(err) != http.StatusInsufficientStorage || len(r.files(t)) > 0 {
			t.Errorf("%s: %v, files %q", name, err, r.files(t))
		}
		t.Logf("%s: %v", name, err)
	}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush() // of unknown length
		_, _ = w.Write(large)
	}))
	defer origin.Close()
	i, err := r.Fetch(t.Context(), nodeapi.NewImage{Name: "web", URL: origin.URL + "/os"}, "")
	for end := time.Now().Add(10 * time.Second); err == nil && i.State == nodeapi.ImageAdding &&
		time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		i, err = r.Show(t.Context(), "web", "")
	}
	if err != nil || i.State != nodeapi.ImageFailed || !strings.Contains(i.Error, "no space left") || len(r.files(t)) > 0 {
		t.Errorf("fetched: %+v, %v, files %q", i, err, r.files(t))
	}
	if _, err := r.add(t, "os", make([]byte, 4<<20)); err != nil {
		t.Errorf("one that fits: %v", err)
	}
}
