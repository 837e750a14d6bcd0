package sys

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestPassThroughStructSizes: the kernel copies as many bytes as its own
// structures have.
func TestPassThroughStructSizes(t *testing.T) {
	if got, want := unsafe.Sizeof(nvmeCommand{}), uintptr(nvmeAdmin>>16&0x3fff); got != want {
		t.Errorf("nvme_passthru_cmd has %d bytes, the kernel's %d", got, want)
	}
	if got := unsafe.Sizeof(sgHeader{}); got != 88 {
		t.Errorf("sg_io_hdr has %d bytes, the kernel's 88", got)
	}
	for name, at := range map[string][2]uintptr{
		"data": {unsafe.Offsetof(sgHeader{}.data), 16}, "status": {unsafe.Offsetof(sgHeader{}.status), 64},
		"host": {unsafe.Offsetof(sgHeader{}.host), 68},
	} {
		if at[0] != at[1] {
			t.Errorf("%s of sg_io_hdr is at %d, the kernel's at %d", name, at[0], at[1])
		}
	}
}

// TestNoDevice: a file takes none of it, and says so.
func TestNoDevice(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "disk")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _, scsi := Linux{}.SCSI(f.Fd(), make([]byte, 6), nil, nil, time.Second)
	for name, err := range map[string]error{
		"nvme": Linux{}.NVMeAdmin(f.Fd(), 6, 0, [6]uint32{}, make([]byte, 8), time.Second), "scsi": scsi,
		"discard": Linux{}.Discard(f.Fd(), 0, 512), "secure discard": Linux{}.SecureDiscard(f.Fd(), 0, 512),
		"zero-out": Linux{}.ZeroOut(f.Fd(), 0, 512),
	} {
		if !errors.Is(err, unix.ENOTTY) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, unix.EINVAL) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
