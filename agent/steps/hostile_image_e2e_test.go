//go:build e2e

package steps

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// lingering is the name of a program that a program of an image leaves behind.
const lingering = "grub-lingers"

// waysOut tries, as a program of a hostile image, the ways out of its root, and names those that work. The test runs
// it on a machine that goes on: nothing is written, and no device is read further than opening it.
func waysOut() (ways []string) {
	found := func(way string, err error) {
		if err == nil {
			ways = append(ways, way)
		}
	}
	opens := func(path string, flags int) {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		found(fmt.Sprintf("open %s, flags %x", path, flags), err)
		_ = unix.Close(fd)
	}
	makes := func(name string, kind uint32, number uint64) {
		for _, at := range []string{"/", "/dev/", "/tmp/"} {
			path := at + "made-" + name
			if unix.Mknod(path, kind|0o600, int(number)) == nil {
				opens(path, unix.O_RDONLY)
				_ = os.Remove(path)
			}
		}
	}
	makes("mem", unix.S_IFCHR, unix.Mkdev(1, 1))
	for _, path := range []string{"/dev/mem", "/dev/kmsg", "/dev/port", "/dev/loop-control", "/dev/mapper/control",
		"/dev/fuse", "/dev/ptmx", "/dev/console", "/proc/kcore", "/proc/kmsg"} {
		opens(path, unix.O_RDONLY)
	}
	for _, path := range []string{"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper",
		"/sys/power/state", "/sys/block/loop0/uevent"} {
		opens(path, unix.O_WRONLY)
	}
	own, _ := os.Readlink("/dev/disk/by-uuid/" + rootUUID)
	own, _, _ = strings.Cut(strings.TrimPrefix(own, "/dev/"), "p")
	disks, _ := filepath.Glob("/sys/class/block/*/dev")
	for _, d := range disks {
		name := filepath.Base(filepath.Dir(d))
		if own == "" || name == own || strings.HasPrefix(name, own+"p") {
			continue
		}
		opens("/dev/"+name, unix.O_RDONLY)
		var major, minor uint32
		if text, err := os.ReadFile(d); err == nil && len(ways) < 10 {
			_, _ = fmt.Sscanf(string(text), "%d:%d", &major, &minor)
			makes(name, unix.S_IFBLK, unix.Mkdev(major, minor))
		}
	}
	found("another /dev/null for the next program", os.Rename("/dev/null", "/dev/nothing"))
	var in unix.Stat_t
	if err := unix.Fstat(0, &in); err != nil || in.Rdev != unix.Mkdev(1, 3) {
		ways = append(ways, fmt.Sprintf("its input is no /dev/null: %+v, %v", in, err))
	}
	found("mount", unix.Mount("tmpfs", "/tmp", "tmpfs", 0, ""))
	found("mount /proc for writing", unix.Mount("", "/proc", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	found("a namespace of users", unix.Unshare(unix.CLONE_NEWUSER))
	_, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	found("raw packets", err)
	if c, err := net.Dial("udp4", "192.0.2.1:9"); err == nil {
		_, err = c.Write([]byte("x"))
		found("a packet", err)
	}
	found("chroot, and so the machine's root", unix.Chroot("/"))
	mem, err := os.Stat("/proc/1/root/proc/2")
	if err == nil {
		ways = append(ways, "/proc/1/root leads to "+mem.Name())
	}
	stay := exec.Command("/proc/self/exe")
	stay.Args, stay.SysProcAttr = []string{lingering}, &syscall.SysProcAttr{Setsid: true}
	if err := stay.Start(); err != nil {
		ways = append(ways, "the test cannot leave a program behind: "+err.Error())
	}
	return ways
}

// checkNobodyLingers: no program of an image outlives the program that the agent has started.
func checkNobodyLingers(t *testing.T) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, path := range all {
		if text, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(text), lingering) {
			t.Errorf("%s still runs", filepath.Dir(path))
		}
	}
}
