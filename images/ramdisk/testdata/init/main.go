// Command init is the /init of the test that boots a ramdisk: it loads the modules the ramdisk lists, with their
// dependencies in modules.dep, uses the console commands, prints its findings and powers off.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	err := run()
	fmt.Println("init: result:", err)
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		fmt.Println("init: power off:", err)
	}
	select {}
}

func run() error {
	for _, m := range []struct{ kind, dir string }{{"devtmpfs", "/dev"}, {"proc", "/proc"}, {"sysfs", "/sys"}} {
		if err := unix.Mount(m.kind, m.dir, m.kind, 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("mount %s: %w", m.dir, err)
		}
	}
	found, err := filepath.Glob("/lib/modules/*")
	if err != nil || len(found) != 1 {
		return fmt.Errorf("folders in /lib/modules: %v, %w", found, err)
	}
	lists, err := readLists(found[0])
	if err != nil {
		return err
	}
	if err := lists.loadAll(); err != nil {
		return err
	}
	cards, err := waitFor("/sys/class/net/eth*")
	if err != nil {
		return err
	}
	disks, err := waitFor("/sys/class/block/vd*")
	if err != nil {
		return err
	}
	fmt.Println("init: cards", cards, "disks", disks)
	shell := exec.Command("/bin/sh", "-c", "for f in a b; do echo $f; done; ip link show lo; lsmod | wc -l; ls -l /init")
	shell.Env = []string{"PATH=/bin"} // the kernel gives its first process none
	out, err := shell.CombinedOutput()
	fmt.Printf("init: console commands: %q\n", out)
	return err
}

// waitFor gives drivers, which probe on their own time, a few seconds.
func waitFor(pattern string) ([]string, error) {
	for range 100 {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) > 0 {
			return found, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s did not appear", pattern)
}

type lists struct {
	dir  string
	file map[string]string
	deps map[string][]string
	load []string
}

func readLists(dir string) (lists, error) {
	l := lists{dir: dir, file: map[string]string{}, deps: map[string][]string{}}
	dep, err := os.ReadFile(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return l, err
	}
	for line := range strings.Lines(string(dep)) {
		file, needs, _ := strings.Cut(strings.TrimSpace(line), ":")
		name := strings.ReplaceAll(strings.TrimSuffix(path.Base(file), ".ko"), "-", "_")
		l.file[name], l.deps[file] = file, strings.Fields(needs)
	}
	names, err := os.ReadFile("/etc/ferrite/modules")
	l.load = append(strings.Fields(string(names)), "virtio_pci", "virtio_net", "virtio_blk")
	return l, err
}

func (l lists) loadAll() error {
	for _, name := range l.load {
		file, ok := l.file[name]
		if !ok {
			return fmt.Errorf("module %s is not in modules.dep", name)
		}
		for _, need := range slices.Backward(append([]string{file}, l.deps[file]...)) {
			if err := insert(filepath.Join(l.dir, need)); err != nil {
				return fmt.Errorf("load %s for %s: %w", need, name, err)
			}
		}
	}
	return nil
}

// insert loads one module. ENODEV is efivarfs's answer under BIOS.
func insert(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.FinitModule(int(f.Fd()), "", 0)
	if errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}
