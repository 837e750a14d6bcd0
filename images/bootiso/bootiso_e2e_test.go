//go:build e2e

package bootiso_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/images/bootiso"
)

// TestE2ETree has the image listed and read by xorriso, which is no work of ours.
func TestE2ETree(t *testing.T) {
	image, err := medium(t, bootiso.Medium{Overlay: "archive"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, out := filepath.Join(dir, "m.iso"), filepath.Join(dir, "out")
	b, err := io.ReadAll(io.NewSectionReader(image, 0, image.Size()))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "xorriso", "-indev", file, "-osirrox", "on", "-extract", "/", out,
		"-report_el_torito", "plain").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"VMEDIA_BOOT_ISO", "boot-info-table", "/boot/efi.img"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("xorriso does not say %q:\n%s", want, said)
		}
	}
	for name, want := range map[string]string{"boot/vmlinuz": "the kernel", "boot/initrd": "the ramdisk",
		"ferrite/node.img": "archive", "boot/grub/grub.cfg": "set timeout=0", "isolinux/isolinux.cfg": "DEFAULT"} {
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !bytes.HasPrefix(got, []byte(want)) {
			t.Errorf("%s: %.20q, %v", name, got, err)
		}
	}
}
