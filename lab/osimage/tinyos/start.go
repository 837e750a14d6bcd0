package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mountBasics gives us the kernel's own file systems.
func mountBasics() error {
	for _, m := range []struct{ kind, dir string }{{"devtmpfs", "/dev"}, {"proc", "/proc"}, {"sysfs", "/sys"}} {
		if err := unix.Mount(m.kind, m.dir, m.kind, 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("mount %s: %w", m.dir, err)
		}
	}
	return nil
}

// loadModules loads every module of this kernel that the image has: the image was built
// with only those it wants.
func loadModules(root string) []error {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return []error{fmt.Errorf("kernel release: %w", err)}
	}
	dir := filepath.Join(root, unix.ByteSliceToString(name.Release[:]))
	text, err := os.ReadFile(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return []error{fmt.Errorf("modules: %w", err)}
	}
	var failed []error
	for _, file := range loadOrder(string(text)) {
		if err := loadModule(filepath.Join(dir, file)); err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// loadOrder lists the files of a modules.dep so that each comes after what it needs. A
// line names the nearest need first.
func loadOrder(dep string) []string {
	var order []string
	for line := range strings.Lines(dep) {
		file, needs, _ := strings.Cut(strings.TrimSpace(line), ":")
		for _, need := range slices.Backward(append([]string{file}, strings.Fields(needs)...)) {
			if need != "" && !slices.Contains(order, need) {
				order = append(order, need)
			}
		}
	}
	return order
}

func loadModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("module: %w", err)
	}
	defer f.Close()
	err = unix.FinitModule(int(f.Fd()), "", 0)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("load %s: %w", filepath.Base(path), err)
	}
	return nil
}
