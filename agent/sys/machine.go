package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Release is the running kernel's version, as in /lib/modules/<release>.
func (Linux) Release() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	return unix.ByteSliceToString(u.Release[:]), nil
}

// Machine is the processor architecture as uname names it: x86_64, aarch64.
func (Linux) Machine() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Machine[:])
}

// Cmdline is the kernel's command line file.
const Cmdline = "/proc/cmdline"

// Memory is the machine's memory in bytes; 0 when it does not say.
func (Linux) Memory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
