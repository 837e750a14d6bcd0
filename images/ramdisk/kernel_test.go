package ramdisk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocateKernel(t *testing.T) {
	dir := t.TempDir()
	if _, err := locateKernel(dir, Kernel{Package: "p"}); err == nil {
		t.Error("no error for an empty package")
	}
	writeFile(t, filepath.Join(dir, "boot", "vmlinuz-6.9-test"), "")
	if _, err := locateKernel(dir, Kernel{Package: "p"}); err == nil {
		t.Error("no error for a package without modules")
	}
	if err := os.MkdirAll(filepath.Join(dir, "lib/modules/6.9-test"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := locateKernel(dir, Kernel{Package: "p", Version: "1"})
	want := Kernel{Package: "p", Version: "1", Release: "6.9-test", Image: filepath.Join(dir, "boot/vmlinuz-6.9-test"),
		Modules: filepath.Join(dir, "lib/modules/6.9-test")}
	if err != nil || got != want {
		t.Error(err, cmp.Diff(want, got))
	}
}
