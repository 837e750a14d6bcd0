//go:build !nohosts

package serve

import (
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// TestRamdiskFiles: the conductor's ramdisk is where PreprovisioningImages name it.
func TestRamdiskFiles(t *testing.T) {
	dir := t.TempDir()
	c := Config{Boot: true, BootAddress: "10.0.0.1/24", Kernel: filepath.Join(dir, "k"), Initrd: filepath.Join(dir, "i")}
	for _, file := range []string{c.Kernel, c.Initrd} {
		if err := os.WriteFile(file, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	images, err := c.deployImages()
	if err != nil || len(images) != 1 {
		t.Fatalf("%d ramdisks: %v", len(images), err)
	}
	for at, want := range map[string]string{images[0].KernelURL: c.Kernel, images[0].URL: c.Initrd} {
		u, err := url.Parse(at)
		if err != nil || u.Hostname() != "10.0.0.1" {
			t.Fatalf("%s: %v", at, err)
		}
		w := httptest.NewRecorder()
		c.ramdiskFiles().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", u.Path, nil))
		if w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s answers %d %s", at, w.Code, w.Body)
		}
	}
}
