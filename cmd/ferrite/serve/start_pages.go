package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseStartPages unmaps the pages of the program's file: most of them were read only to start, and count as resident
// as long as they are mapped. The kernel maps a page again, from its cache, when it is used. A mapping with changed
// pages stays: they are not in the file.
func releaseStartPages() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range unchanged(maps, program) {
		if _, _, no := unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED); no != 0 {
			errs = append(errs, fmt.Errorf("%x-%x: %w", m.from, m.to, no))
		}
	}
	return errors.Join(errs...)
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// unchanged are the mappings of a file that cannot be written and have no page of their own, by proc_pid_smaps(5).
func unchanged(smaps []byte, file string) (all []mapping) {
	var m mapping
	of := false
	for lines := bufio.NewScanner(bytes.NewReader(smaps)); lines.Scan(); {
		field := strings.Fields(lines.Text())
		var at mapping
		switch n, _ := fmt.Sscanf(field[0], "%x-%x", &at.from, &at.to); {
		case n == 2:
			m, of = at, len(field) > 5 && field[5] == file && strings.HasPrefix(field[1], "r-")
		case of && field[0] == "Anonymous:" && field[1] == "0":
			all = append(all, m)
		}
	}
	return all
}
