package disk

import (
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// Discard discards a range of bytes (BLKDISCARD). The device chooses the content that
// is read there afterwards. A device without it returns errors.ErrUnsupported.
func (d *Device) Discard(off, n int64) error { return sys.Linux{}.Discard(d.f.Fd(), off, n) }

// SecureDiscard gives up a range with all copies the device may have made of
// it (BLKSECDISCARD). A device without it is errors.ErrUnsupported.
func (d *Device) SecureDiscard(off, n int64) error {
	return sys.Linux{}.SecureDiscard(d.f.Fd(), off, n)
}

// ZeroOut makes a range read as zeroes by the device's own means (BLKZEROOUT);
// where it has none the kernel writes them.
func (d *Device) ZeroOut(off, n int64) error { return sys.Linux{}.ZeroOut(d.f.Fd(), off, n) }

// NVMeAdmin sends an NVMe admin command and waits for its end; data is read or
// written in place.
func (d *Device) NVMeAdmin(opcode uint8, nsid uint32, cdw [6]uint32, data []byte, timeout time.Duration) error {
	return sys.Linux{}.NVMeAdmin(d.f.Fd(), opcode, nsid, cdw, data, timeout)
}

// SCSI sends a command block and waits for its end: in is filled, or out is
// sent. It returns SCSI's status and the sense data.
func (d *Device) SCSI(cdb, in, out []byte, timeout time.Duration) (status uint8, sense []byte, err error) {
	return sys.Linux{}.SCSI(d.f.Fd(), cdb, in, out, timeout)
}
