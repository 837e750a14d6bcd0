package ramdisk

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIndexModules: our lists equal depmod's. The order of modules.order decides which alias comes first.
func TestIndexModules(t *testing.T) {
	dir := t.TempDir()
	packed, err := base64.StdEncoding.DecodeString(packedModule)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"modules.builtin":        "kernel/lib/built-in.ko\n",
		"modules.order":          "kernel/b/second-one.ko\nkernel/a/first.ko\n",
		"kernel/a/first.ko":      string(module("alias=pci:v1*", "depends=second_one,built_in", "softdep=pre: x post: y")),
		"kernel/b/second-one.ko": string(module("alias=pci:v1*", "depends=third,sum")),
		"kernel/c/third.ko":      string(module("license=GPL", "depends=")),
		"kernel/c/sum.ko.xz":     string(packed),
		"build":                  "no module",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	if err := indexModules(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"modules.dep": "kernel/b/second-one.ko: kernel/c/sum.ko.xz kernel/c/third.ko\n" +
			"kernel/a/first.ko: kernel/b/second-one.ko kernel/c/sum.ko.xz kernel/c/third.ko\n" +
			"kernel/c/sum.ko.xz:\nkernel/c/third.ko:\n",
		"modules.alias":   "alias pci:v1* second_one\nalias pci:v1* first\n",
		"modules.softdep": "softdep first pre: x post: y\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if err := os.Remove(filepath.Join(dir, "kernel/c/third.ko")); err != nil {
		t.Fatal(err)
	}
	if err := indexModules(dir); err == nil ||
		!strings.Contains(err.Error(), "second_one needs third, which is not there") {
		t.Errorf("a module without its dependency: %v", err)
	}
	writeFile(t, filepath.Join(dir, "kernel/c/third.ko"), "no ELF")
	if err := indexModules(dir); err == nil || !strings.Contains(err.Error(), "third.ko") {
		t.Errorf("a damaged module: %v", err)
	}
	if err := indexModules(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no modules") {
		t.Errorf("an empty folder: %v", err)
	}
}
