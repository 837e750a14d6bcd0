//go:build e2e

package sys

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/u-root/u-root/pkg/cpio"
	"golang.org/x/sys/unix"
)

const (
	bomb       = "fork-bomb"
	bombPassed = "the agent has lived beside the fork bomb"
)

// TestMain is also the program of a hostile image.
func TestMain(m *testing.M) {
	for os.Args[0] == bomb {
		next := exec.Command("/proc/self/exe")
		next.Args = []string{bomb}
		_ = next.Start() // at the limit there is no other
	}
	os.Exit(m.Run())
}

// TestE2EForkBombInGuest boots the lab's kernel, built by make ramdisk, with this test as process 1 beside a program of
// an image that starts itself without end.
func TestE2EForkBombInGuest(t *testing.T) {
	if os.Getpid() == 1 {
		besideBomb(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := errors.Join(cpio.WriteRecords(cpio.Newc.Writer(&archive), []cpio.Record{cpio.Directory("proc", 0o755),
		cpio.Directory("dev", 0o755), cpio.CharDev("dev/console", 0o600, 5, 1), cpio.CharDev("dev/null", 0o666, 1, 3),
		cpio.Directory("tmp", 0o755),
		cpio.StaticFile("guest", string(program), 0o755)}), cpio.WriteTrailer(cpio.Newc.Writer(&archive))); err != nil {
		t.Fatal(err)
	}
	initramfs := filepath.Join(t.TempDir(), "initramfs")
	if err := os.WriteFile(initramfs, archive.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg", "-cpu", "qemu64,+rdrand", "-m", "512",
		"-nographic", "-no-reboot", "-nic", "none", "-kernel", "../../bin/ramdisk/lab.vmlinuz", "-initrd", initramfs,
		"-append", "console=ttyS0 quiet panic=-1 rdinit=/guest -- -test.run=^TestE2EForkBombInGuest$ -test.v").
		CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte(bombPassed)) {
		t.Fatalf("%v\n%s", err, out)
	}
}

// besideBomb is process 1: the end of its context must end the program, and it must have its turns until then.
func besideBomb(t *testing.T) {
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		t.Fatal(err)
	}
	g, err := newGroup()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	inside(cmd, nil, g)
	cmd.Args = []string{bomb}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began, turns := time.Now(), 0
	for ; ctx.Err() == nil; turns++ {
		time.Sleep(100 * time.Millisecond)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Error(err)
	}
	events := make([]byte, 64) // how often there were too many
	if fd, err := unix.Openat(int(g.own.Fd()), "pids.events", unix.O_RDONLY, 0); err != nil {
		t.Error(err)
	} else if n, err := unix.Read(fd, events); err != nil || n < 6 || string(events[:6]) == "max 0\n" {
		t.Errorf("the program was not held: %q, %v", events[:max(n, 0)], err)
	}
	if err := g.end(); err != nil {
		t.Error(err)
	}
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	left := slices.ContainsFunc(all, func(p string) bool {
		text, _ := os.ReadFile(p)
		return strings.HasPrefix(string(text), bomb)
	})
	if took := time.Since(began); left || took > 15*time.Second || turns < 10 {
		t.Errorf("left %v, after %s with %d turns", left, took, turns)
	}
	if !t.Failed() {
		os.Stdout.WriteString(bombPassed + "\n")
	}
	unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
}
