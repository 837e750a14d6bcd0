package agent

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/agent/disk/erase/erasetest"
	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

// machine is a kernel and a network that record the calls.
type machine struct {
	steps.Kernel                     // no step of these tests asks for it
	off, synced, down, anew, rescued atomic.Int32

	board *screen.Board
	rtc   atomic.Int64 // seconds since 1970
	bmc   func(netfn, command byte, data []byte) ([]byte, error)
}

func (m *machine) SetClock(time.Time) error    { return errors.New("the clock was right") }
func (m *machine) ReadRTC() (time.Time, error) { return time.Unix(m.rtc.Load(), 0), nil }
func (m *machine) SetRTC(t time.Time) error    { m.rtc.Store(t.Unix()); return nil }
func (m *machine) KernelBuilt() string         { return "" }

func (m *machine) Sync()                                          { m.synced.Add(1) }
func (m *machine) PowerOff() error                                { m.off.Add(1); return nil }
func (m *machine) Reboot() error                                  { return errors.New("not asked for") }
func (m *machine) Kexec() error                                   { return errors.New("not asked for") }
func (m *machine) UnloadKernel() error                            { return nil }
func (m *machine) KernelLog() ([]byte, error)                     { return []byte("6,1,1,-;Linux\n"), nil }
func (m *machine) PrivateFlag(string, string, bool) (bool, error) { return false, nil }

func (m *machine) Frames(string, uint16, []net.HardwareAddr) (io.ReadCloser, error) {
	return nil, fs.ErrPermission
}
func (m *machine) Machine() string                                 { return "x86_64" }
func (m *machine) Wait(context.Context, bool, time.Duration) error { return nil }
func (m *machine) Down() error                                     { m.down.Add(1); return nil }
func (m *machine) AskAnew()                                        { m.anew.Add(1) }

// IPMI asks the machine's BMC, if it has one.
func (m *machine) IPMI(netfn, command byte, data []byte, _ time.Duration) ([]byte, error) {
	if m.bmc == nil {
		return nil, fs.ErrNotExist
	}
	return m.bmc(netfn, command, data)
}

// Rescue takes the one right password.
func (m *machine) Rescue(p rescue.Password) error {
	if !p.Matches([]byte("Hello world!")) {
		return errors.New("another password than was sent")
	}
	m.rescued.Add(1)
	return nil
}

// fileDisk is a regular file taken for a disk.
type fileDisk struct {
	*disktest.FileTarget
	erasetest.Plain
}

func (fileDisk) RereadPartitions(context.Context) error { return nil }
