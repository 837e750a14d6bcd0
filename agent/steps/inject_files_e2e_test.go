//go:build e2e

package steps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// run runs a program of the test dependencies.
func run(t *testing.T, stdin, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// loop makes a loop device with a partition table and returns its path. On test machines with a kernel that reads no
// tables, partx adds the partitions.
func loop(t *testing.T, size int64, sector int, table string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
		t.Fatal(err)
	}
	dev := run(t, "", "losetup", "-f", "--show", "-P", "-b", fmt.Sprint(sector), path)
	t.Cleanup(func() { run(t, "", "losetup", "-d", dev) })
	run(t, table, "sfdisk", "-q", "--label", "gpt", dev)
	if _, err := os.Stat(dev + "p1"); err != nil {
		run(t, "", "partx", "-a", dev)
	}
	return dev
}

// onDevice is a machine with one disk, a real block device.
func onDevice(t *testing.T, dev string) *bench {
	t.Helper()
	b := newBench(t)
	b.Disks = func() ([]agentapi.Disk, []agentapi.SkippedDisk) {
		return []agentapi.Disk{{Name: dev, Size: 1 << 30}}, nil
	}
	b.Open = func(ctx context.Context, path string) (Device, error) { return disk.OpenDevice(ctx, path) }
	b.Kernel = sys.Linux{}
	return b
}

// TestE2EInjectOntoFileSystems has the kernel mount each mkfs's file system. The installed system does its best to be
// written out of.
func TestE2EInjectOntoFileSystems(t *testing.T) {
	for _, tc := range []struct{ kind, mkfs string }{{"ext4", "mkfs.ext4 -q"}, {"xfs", "mkfs.xfs -q"},
		{"btrfs", "mkfs.btrfs -q"}} {
		t.Run(tc.kind, func(t *testing.T) {
			dev := loop(t, 400<<20, 512, "size=8MiB, type=U\ntype=L, name=root\n")
			fields := append(strings.Fields(tc.mkfs), dev+"p2")
			run(t, "", fields[0], fields[1:]...)
			victim := filepath.Join(t.TempDir(), "victim")
			if err := os.WriteFile(victim, []byte("the ramdisk's own"), 0o644); err != nil {
				t.Fatal(err)
			}
			b := onDevice(t, dev)
			look(t, dev+"p2", tc.kind, func(root string) {
				if err := errors.Join(os.MkdirAll(root+"/etc", 0o755), os.Symlink(victim, root+"/etc/evil"),
					os.Symlink("/../../../../etc", root+"/up"),
					os.WriteFile(root+"/etc/passwd", []byte("debian:x:1000:1000::/:/bin/sh\n"), 0o644)); err != nil {
					t.Fatal(err)
				}
			})
			name := "ferrite-" + filepath.Base(dev)
			err := b.inject(t, agentapi.CommandNode{},
				map[string]any{"path": "/etc/ssh/sshd_config.d/10.conf", "content": b64("X\n"), "mode": 384.0, "dirmode": 448.0,
					"owner": "debian"},
				map[string]any{"path": "/up/" + name, "content": b64("inside"), "partition": "PARTLABEL=root"},
			)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.inject(t, agentapi.CommandNode{},
				map[string]any{"path": "/etc/evil", "content": b64("escaped")}); err == nil {
				t.Error("a link to a folder that the image has not was followed")
			}
			look(t, dev+"p2", tc.kind, func(root string) {
				var st unix.Stat_t
				if err := unix.Stat(root+"/etc/ssh/sshd_config.d/10.conf", &st); err != nil || st.Uid != 1000 || st.Gid != 0 ||
					st.Mode&0o7777 != 0o600 {
					t.Errorf("%v: owner %d:%d, mode %o", err, st.Uid, st.Gid, st.Mode)
				}
				if got, err := os.ReadFile(root + "/etc/" + name); err != nil || string(got) != "inside" {
					t.Errorf("%q, %v", got, err)
				}
			})
			if got, err := os.ReadFile(victim); err != nil || string(got) != "the ramdisk's own" {
				t.Errorf("the ramdisk was written to: %q, %v", got, err)
			}
			if _, err := os.Stat("/etc/" + name); err == nil {
				t.Error("the ramdisk got a file")
			}
		})
	}
}

// look mounts a file system the usual way.
func look(t *testing.T, device, kind string, do func(root string)) {
	t.Helper()
	root := t.TempDir()
	if err := unix.Mount(device, root, kind, 0, ""); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(root, 0); err != nil {
			t.Error(err)
		}
	}()
	do(root)
}
