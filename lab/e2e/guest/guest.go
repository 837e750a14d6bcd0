// Package guest makes a QEMU machine that has Debian with systemd on its disk, for suites that need no lab.
package guest

import (
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Debian is a machine as spec has it, switched off, with Debian on a first disk of its own. Changes to that disk end
// with the test.
func Debian(t testing.TB, spec qemu.Spec) *qemu.Machine {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	cache, err := buildcache.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	image, err := osimage.Debian(t.Context(), cache, log)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	disk, err := overlay(image, dir)
	if err != nil {
		t.Fatal(err)
	}
	spec.Dir, spec.ConsoleLog, spec.MemoryMB = dir, filepath.Join(dir, "console.log"), 1024
	spec.Disks = append([]qemu.Disk{disk}, spec.Disks...)
	m, err := qemu.New(spec, qemu.Options{Start: (*exec.Cmd).Start, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("the machine cannot be ended: %v", err)
		}
	})
	return m
}

// overlay is a disk that keeps a machine's changes to an image.
func overlay(image osimage.Image, dir string) (qemu.Disk, error) {
	path := filepath.Join(dir, "disk.qcow2")
	out, err := exec.Command("qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", image.Qcow2,
		path).CombinedOutput()
	if err != nil {
		return qemu.Disk{}, fmt.Errorf("qemu-img: %w: %s", err, out)
	}
	return qemu.Disk{Path: path, Format: "qcow2", SizeMB: image.VirtualSize >> 20}, nil
}
