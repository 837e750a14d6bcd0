package sys

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// nvmeAdmin is NVME_IOCTL_ADMIN_CMD (linux/nvme_ioctl.h), _IOWR('N', 0x41, struct nvme_admin_cmd).
const nvmeAdmin = 0xc0484e41

// nvmeCommand is struct nvme_passthru_cmd.
type nvmeCommand struct {
	opcode, flags uint8
	_             uint16
	nsid          uint32
	cdw2, cdw3    uint32
	metadata      uint64
	addr          *byte
	metadataLen   uint32
	dataLen       uint32
	cdw           [6]uint32 // command dwords 10 to 15
	timeoutMS     uint32
	result        uint32
}

// NVMeAdmin sends one admin command through an open NVMe device (fd) and waits for its completion. data is the
// command's input or output. A status of the drive becomes an *NVMeError.
func (Linux) NVMeAdmin(fd uintptr, opcode uint8, nsid uint32, cdw [6]uint32, data []byte, timeout time.Duration) error {
	c := &nvmeCommand{opcode: opcode, nsid: nsid, cdw: cdw, dataLen: uint32(len(data)),
		timeoutMS: uint32(timeout.Milliseconds())}
	if len(data) > 0 {
		c.addr = &data[0]
	}
	status, err := ioctlStatus(fd, nvmeAdmin, unsafe.Pointer(c))
	runtime.KeepAlive(data)
	if err != nil {
		return fmt.Errorf("nvme admin command %#02x: %w", opcode, err)
	}
	if status != 0 {
		return &NVMeError{Opcode: opcode, Status: uint16(status)}
	}
	return nil
}

// NVMeError is the status a drive ended an admin command with: status code
// type and status code, as in the completion's status field (NVMe base
// specification, section 3.3.3.2.1).
type NVMeError struct {
	Opcode uint8
	Status uint16
}

// Error names command and status.
func (e *NVMeError) Error() string {
	return fmt.Sprintf("the drive ended admin command %#02x with status %#x (type %d, code %#02x)", e.Opcode, e.Status,
		e.Status>>8&7, e.Status&0xff)
}
