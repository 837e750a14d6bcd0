package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// siginfoPID reads si_pid, which x/sys leaves in Siginfo's untyped part: three
// 32-bit words (signo, errno, code), padding to a pointer's alignment, si_pid.
func siginfoPID(info *unix.Siginfo) int {
	const head = 3 * 4
	const align = unsafe.Sizeof(uintptr(0))
	const offset = (head + align - 1) / align * align
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), offset)))
}
