package sys

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The SCSI generic interface (scsi/sg.h).
const (
	sgIO       = 0x2285
	sgNone     = -1
	sgToDevice = -2
	sgFromDev  = -3
	senseSize  = 64
)

// sgHeader is struct sg_io_hdr.
type sgHeader struct {
	id        int32 // 'S'
	direction int32
	cmdLen    uint8
	senseMax  uint8
	iovecs    uint16
	dataLen   uint32
	data      *byte
	cmd       *byte
	sense     *byte
	timeoutMS uint32
	flags     uint32
	packID    int32
	_         [4]byte
	usr       uintptr
	status    uint8
	masked    uint8
	msg       uint8
	senseLen  uint8
	host      uint16
	driver    uint16
	resid     int32
	duration  uint32
	info      uint32
}

// SCSI sends one command block through an open block device (fd) and waits for its
// end. The device fills in, and receives out; at most one of them is given. sense is
// the device's sense data, which ATA PASS-THROUGH may return without a failure. status
// is SCSI's (0 good, 2 check condition). A failure on the way to the device is an
// error.
func (Linux) SCSI(fd uintptr, cdb, in, out []byte, timeout time.Duration) (status uint8, sense []byte, err error) {
	sense = make([]byte, senseSize)
	h := &sgHeader{
		id: 'S', direction: sgNone, cmdLen: uint8(len(cdb)), cmd: &cdb[0], senseMax: senseSize, sense: &sense[0],
		timeoutMS: uint32(timeout.Milliseconds()),
	}
	switch {
	case len(in) > 0:
		h.direction, h.data, h.dataLen = sgFromDev, &in[0], uint32(len(in))
	case len(out) > 0:
		h.direction, h.data, h.dataLen = sgToDevice, &out[0], uint32(len(out))
	}
	_, err = ioctlStatus(fd, sgIO, unsafe.Pointer(h))
	runtime.KeepAlive(cdb)
	runtime.KeepAlive(in)
	runtime.KeepAlive(out)
	if err != nil {
		return 0, nil, fmt.Errorf("scsi command %#02x: %w", cdb[0], err)
	}
	if h.host != 0 {
		return h.status, nil, fmt.Errorf("scsi command %#02x: the host adapter failed it (host status %#x, "+
			"driver status %#x)", cdb[0], h.host, h.driver)
	}
	return h.status, sense[:min(int(h.senseLen), senseSize)], nil
}

// ioctlStatus is an ioctl with a result, begun again when a signal cut it off before the device was asked.
func ioctlStatus(fd, request uintptr, arg unsafe.Pointer) (uintptr, error) {
	for {
		r, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg))
		if errors.Is(errno, unix.EINTR) {
			continue
		}
		if errno != 0 {
			return 0, errno
		}
		return r, nil
	}
}
