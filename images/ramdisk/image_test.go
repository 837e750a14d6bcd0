//go:build imagetest

package ramdisk

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// released is the program that `make release` makes.
const released = "../../bin/release/ferrite"

// TestImage: on a system that has nothing but the released program, a ramdisk with firmware and microcode is built
// from Debian's packages, twice with the same bytes. It needs root, for chroot.
func TestImage(t *testing.T) {
	mirror := os.Getenv("IMAGE_TEST_MIRROR")
	if mirror == "" {
		mirror = newAptMirror(t)
	}
	flags := []string{"--firmware", "auto"}
	first := bareBuild(t, mirror, flags...)
	found := inspected(t, filepath.Join(first, "metal.initramfs"))
	for _, want := range []string{"bnx2x/bnx2x-e2-7.13.21.0.fw", "qed/qed_init_values_zipped-8.59.1.0.bin"} {
		if !slices.Contains(found.Firmware, want) {
			t.Errorf("no firmware %s among %d files", want, len(found.Firmware))
		}
	}
	if !slices.Equal(found.Microcode, []string{"GenuineIntel", "AuthenticAMD"}) {
		t.Errorf("microcode %q", found.Microcode)
	}
	if !slices.ContainsFunc(found.Files, func(f InspectedFile) bool { return f.Path == licencePath("firmware-bnx2x") }) {
		t.Error("no licence of firmware-bnx2x")
	}
	second := bareBuild(t, mirror, flags...)
	for _, name := range []string{"metal.vmlinuz", "metal.initramfs"} {
		a, b := hashOf(t, filepath.Join(first, name)), hashOf(t, filepath.Join(second, name))
		if a != b {
			t.Errorf("%s: two builds differ: %s, %s", name, a, b)
		}
	}
	bootAgent(t, first)
	backports := bareBuild(t, mirror, "--kernel-package", "linux-image-amd64/bookworm-backports")
	t.Logf("backports: %q", inspected(t, filepath.Join(backports, "metal.initramfs")).Releases)
}

// bareBuild runs the released program in a folder that has nothing else, and returns the folder of the results.
func bareBuild(t *testing.T, mirror string, flags ...string) string {
	t.Helper()
	root := t.TempDir()
	program, err := os.ReadFile(released)
	if err != nil {
		t.Fatalf("%v: run `make release`", err)
	}
	writeFile(t, filepath.Join(root, "ferrite"), string(program))
	if err := os.Chmod(filepath.Join(root, "ferrite"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"ramdisk", "build", "--mirror", mirror, "--suite", "bookworm", "--suite", "bookworm-security",
		"--out", "/out"}, flags...)
	cmd := exec.CommandContext(t.Context(), "/ferrite", args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	cmd.Env = []string{"PATH=", "FERRITE_CACHE=/cache"}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("%s: %v\n%s", strings.Join(flags, " "), time.Since(began).Round(time.Second), out)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "out")
}

// inspected is the report of `ferrite ramdisk inspect`.
func inspected(t *testing.T, file string) (found Inspection) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), released, "ramdisk", "inspect", "--json", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func hashOf(t *testing.T, file string) string {
	t.Helper()
	sum, err := buildcache.HashFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// bootAgent starts the ramdisk in QEMU until the agent is there.
func bootAgent(t *testing.T, dir string) {
	t.Helper()
	console := filepath.Join(t.TempDir(), "console")
	cmd := exec.CommandContext(t.Context(), "qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi",
		"-cpu", "qemu64,+rdrand", "-m", "1024", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "file:"+console,
		"-kernel", filepath.Join(dir, "metal.vmlinuz"), "-initrd", filepath.Join(dir, "metal.initramfs"),
		"-append", "console=ttyS0,115200")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	var text []byte
	for ends := time.Now().Add(3 * time.Minute); time.Now().Before(ends); time.Sleep(time.Second) {
		var err error
		if text, err = os.ReadFile(console); err == nil && bytes.Contains(text, []byte(agentLine)) {
			return
		}
	}
	t.Errorf("no %q on the console:\n%s", agentLine, text[max(0, len(text)-3000):])
}

// agentLine is the agent's log line once it runs as process 1 and the modules are loaded.
const agentLine = `msg="drivers loaded"`
