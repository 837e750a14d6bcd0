package openstack

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestHereOutlivesThreads: a program goes on when the thread that asked for its start ends.
func TestHereOutlivesThreads(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, thread := make(chan error, 1), make(chan int, 1)
	inThread(func(id int) {
		started <- Here.Start(cmd)
		thread <- id
	})
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	task := "/proc/self/task/" + strconv.Itoa(<-thread)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(task); os.IsNotExist(err) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the thread goes on")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // with the signal
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGTERM {
		t.Errorf("the program was ended by %v, expected %v", cmd.ProcessState, syscall.SIGTERM)
	}
}

// inThread runs f in a thread that ends with it. The first thread of a process cannot end.
func inThread(f func(id int)) {
	go func() {
		runtime.LockOSThread()
		if id := syscall.Gettid(); id != syscall.Getpid() {
			f(id)
			return // still locked, which ends the thread
		}
		done := make(chan struct{})
		inThread(func(id int) {
			f(id)
			close(done)
		})
		<-done // locked until then, so that the other one is in another thread
		runtime.UnlockOSThread()
	}()
}
