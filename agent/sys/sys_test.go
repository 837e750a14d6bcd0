package sys

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestParseUevent(t *testing.T) {
	got := parseUevent(
		[]byte(
			"add@/devices/pci0000:00/0000:00:03.0\x00ACTION=add\x00SUBSYSTEM=pci\x00MODALIAS=pci:v00001AF4d00001041\x00EMPTY=\x00"))
	want := map[string]string{"ACTION": "add", "SUBSYSTEM": "pci", "MODALIAS": "pci:v00001AF4d00001041", "EMPTY": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseUevent(f *testing.F) {
	f.Add([]byte("add@/x\x00ACTION=add\x00"))
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, b []byte) { parseUevent(b) })
}

func TestUeventsCloseWakesNext(t *testing.T) {
	u, err := Linux{}.Uevents()
	if err != nil {
		t.Fatal(err)
	}
	begun, done := make(chan struct{}), make(chan error, 1)
	go func() {
		close(begun)
		for {
			if _, err := u.Next(); err != nil {
				done <- err
				return
			}
		}
	}()
	<-begun // whether it waits already or is about to, it must not from now on
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, os.ErrClosed) {
		t.Errorf("Next ended with %v", err)
	}
}

func TestEntropyReady(t *testing.T) {
	ready, err := Linux{}.EntropyReady()
	if err != nil || !ready {
		t.Errorf("ready = %v, %v on a machine that has run for a while", ready, err)
	}
}

func TestDeadChild(t *testing.T) {
	cmd := exec.Command("/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// it stays for the next waiter
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if pid, err := (Linux{}).DeadChild(); err != nil || pid != cmd.Process.Pid {
		t.Fatalf("child %d not seen dead, but %d: %v", cmd.Process.Pid, pid, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("looking at a dead child took it away: %v", err)
	}
}

func TestAbsentDevices(t *testing.T) {
	_, err := Linux{}.IPMI(0x06, 0x01, nil, time.Second) // Get Device ID
	if _, absent := os.Stat("/dev/ipmi0"); absent != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("IPMI without a BMC: %v", err)
	}
	if err := (Linux{}).LoadModule("/nonexistent.ko", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("module that is not there: %v", err)
	}
	if r, err := (Linux{}).Release(); err != nil || r == "" {
		t.Errorf("release %q, %v", r, err)
	}
	if (Linux{}).Uptime() <= 0 || (Linux{}).Machine() == "" {
		t.Error("no uptime or machine")
	}
}

func TestSleep(t *testing.T) {
	if !Sleep(t.Context(), time.Millisecond) {
		t.Error("a sleep of its full time says it was cut short")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if Sleep(ctx, time.Hour) {
		t.Error("a sleep cut short says it took its full time")
	}
}

// TestIPMIStructSizes: the kernel checks the size encoded in an ioctl number
// against its own structure, so ours must have it too.
func TestIPMIStructSizes(t *testing.T) {
	sizeIn := func(request uintptr) uintptr { return request >> 16 & 0x3fff }
	if got, want := unsafe.Sizeof(ipmiReq{}), sizeIn(ipmiSend); got != want {
		t.Errorf("ipmi_req has %d bytes, the kernel's %d", got, want)
	}
	if got, want := unsafe.Sizeof(ipmiRecv{}), sizeIn(ipmiReceive); got != want {
		t.Errorf("ipmi_recv has %d bytes, the kernel's %d", got, want)
	}
}

func TestWindow(t *testing.T) {
	pty, tty, err := Linux{}.OpenPTY()
	if err != nil && os.Geteuid() != 0 {
		t.Skip("this machine gives only root terminals: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer pty.Close() // a terminal of the test
	defer tty.Close() // as this
	if columns, rows := (Linux{}).Window(tty); columns != 80 || rows != 25 {
		t.Errorf("a terminal that was told no size: %d x %d", columns, rows)
	}
	if err := (Linux{}).SetWindow(pty, 132, 50); err != nil {
		t.Fatal(err)
	}
	if columns, rows := (Linux{}).Window(tty); columns != 132 || rows != 50 {
		t.Errorf("%d x %d", columns, rows)
	}
}
