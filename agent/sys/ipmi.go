package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The interface of /dev/ipmi0 (linux/ipmi.h).
const (
	ipmiSend       = 0x8028690d // IPMICTL_SEND_COMMAND, _IOR('i', 13, struct ipmi_req)
	ipmiReceive    = 0xc030690b // IPMICTL_RECEIVE_MSG_TRUNC, _IOWR('i', 11, struct ipmi_recv)
	ipmiSystemAddr = 0x0c       // IPMI_SYSTEM_INTERFACE_ADDR_TYPE
	ipmiBMCChannel = 0x0f
)

// ipmiAddr is struct ipmi_system_interface_addr.
type ipmiAddr struct {
	kind    int32
	channel int16
	_       [2]uint8 // logical unit 0
}

// ipmiMsg is struct ipmi_msg.
type ipmiMsg struct {
	netfn, cmd uint8
	size       uint16
	_          uint32
	data       *byte
}

// ipmiReq is struct ipmi_req.
type ipmiReq struct {
	addr    *ipmiAddr
	addrLen uint32
	_       uint32
	msgID   int64
	msg     ipmiMsg
}

// ipmiRecv is struct ipmi_recv.
type ipmiRecv struct {
	kind    int32
	_       int32
	addr    *ipmiAddr
	addrLen uint32
	_       uint32
	msgID   int64
	msg     ipmiMsg
}

// IPMIError is an answer with a completion code other than 00.
type IPMIError struct{ NetFn, Command, Code uint8 }

func (e *IPMIError) Error() string {
	return fmt.Sprintf("ipmi: command %#02x/%#02x answered completion code %#02x, expected 00", e.NetFn, e.Command, e.Code)
}

// CompletionCode is the answer's first byte (IPMI 2.0, table 5-2).
func (e *IPMIError) CompletionCode() uint8 { return e.Code }

// IPMI sends one command to the machine's own BMC over /dev/ipmi0 and returns the
// answer's bytes after the completion code. It returns fs.ErrNotExist on a machine
// without a BMC, an *IPMIError when the BMC refuses, and an error after the timeout.
// No error has bytes of the request, which may be a password.
func (Linux) IPMI(netfn, cmd uint8, data []byte, timeout time.Duration) ([]byte, error) {
	fd, err := unix.Open("/dev/ipmi0", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/ipmi0", Err: err}
	}
	defer unix.Close(fd) //nolint:errcheck // nothing is buffered

	addr := &ipmiAddr{kind: ipmiSystemAddr, channel: ipmiBMCChannel}
	req := &ipmiReq{addr: addr, addrLen: uint32(unsafe.Sizeof(*addr)), msgID: 1,
		msg: ipmiMsg{netfn: netfn, cmd: cmd, size: uint16(len(data))}}
	if len(data) > 0 {
		req.msg.data = &data[0]
	}
	if err := ioctl(fd, ipmiSend, unsafe.Pointer(req)); err != nil {
		return nil, fmt.Errorf("ipmi: send: %w", err)
	}
	runtime.KeepAlive(data)

	if err := awaitAnswer(fd, timeout); err != nil {
		return nil, err
	}
	answer := make([]byte, 272)
	recv := &ipmiRecv{addr: &ipmiAddr{}, addrLen: uint32(unsafe.Sizeof(ipmiAddr{})),
		msg: ipmiMsg{size: uint16(len(answer)), data: &answer[0]}}
	if err := ioctl(fd, ipmiReceive, unsafe.Pointer(recv)); err != nil {
		return nil, fmt.Errorf("ipmi: receive: %w", err)
	}
	answer = answer[:recv.msg.size]
	if len(answer) == 0 {
		return nil, fmt.Errorf("ipmi: command %#02x/%#02x has an empty answer, expected a completion code", netfn, cmd)
	}
	if answer[0] != 0 {
		return nil, &IPMIError{netfn, cmd, answer[0]}
	}
	return answer[1:], nil
}

// awaitAnswer waits until there is a message to receive. A signal interrupts poll, and Go's runtime sends itself some.
func awaitAnswer(fd int, timeout time.Duration) error {
	end := time.Now().Add(timeout)
	for {
		left := max(time.Until(end), 0)
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("ipmi: wait: %w", err)
		case ready == 0:
			return fmt.Errorf("ipmi: no answer from the BMC in %s", timeout)
		default:
			return nil
		}
	}
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}
