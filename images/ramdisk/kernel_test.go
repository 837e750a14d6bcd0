package ramdisk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImageDependency(t *testing.T) {
	tests := []struct{ name, depends, want, wantErr string }{
		{"bookworm", "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-56-cloud-amd64\n",
			"linux-image-6.1.0-56-cloud-amd64", ""},
		{"among others", "linux-image-amd64\n  PreDepends: dpkg\n |Depends: kmod\n  Depends: linux-image-7.0-1-amd64\n",
			"linux-image-7.0-1-amd64", ""},
		{"empty lists", "linux-image-amd64\n", "", "apt-get update"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := imageDependency("linux-image-amd64", tt.depends)
			if got != tt.want || (err == nil) != (tt.wantErr == "") ||
				(err != nil && !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestControlField(t *testing.T) {
	paragraph := "Package: x\nVersion: 6.1.192-2\nDescription: Version: 9\n Version: 8\n"
	if got := controlField(paragraph, "Version"); got != "6.1.192-2" {
		t.Errorf("got %q", got)
	}
	if got := controlField(paragraph, "Size"); got != "" {
		t.Errorf("got %q for a field that is not there", got)
	}
}

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
