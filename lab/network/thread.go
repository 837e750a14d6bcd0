package network

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// errClosed is returned by calls on a namespace after Close.
var errClosed = errors.New("network namespace is closed")

// onOwnThread runs f on an OS thread of its own that ends with f. A thread
// that entered a namespace must not go back to Go's pool, and the process's
// first thread must never enter one: Go cannot end it, and /proc/PID/ns/net
// shows its namespace as the whole process's.
func onOwnThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f() // returning while locked ends the thread
			return
		}
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			f()
		}()
		<-locked
		runtime.UnlockOSThread()
	}()
}

// thread is one long-lived OS thread inside a namespace, the parent of every
// process started there. The kernel sends a child its parent-death signal
// when the thread that forked it ends, not the process, so children need a
// thread that lives as long as they may.
type thread struct {
	work chan func()
	done chan struct{}
}

// newThread starts a thread, runs enter on it, and keeps it when that works.
func newThread(enter func() error) (*thread, error) {
	t := &thread{work: make(chan func()), done: make(chan struct{})}
	entered := make(chan error, 1)
	onOwnThread(func() {
		defer close(t.done)
		if err := enter(); err != nil {
			entered <- err
			return
		}
		entered <- nil
		for f := range t.work {
			f()
		}
	})
	if err := <-entered; err != nil {
		return nil, err
	}
	return t, nil
}

// start starts cmd from the thread: in its namespace, in a process group of
// its own (a Ctrl-C at the terminal is for the lab to handle, in order), and
// killed by the kernel when the lab dies.
func (t *thread) start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr.Setpgid = true
	started := make(chan error, 1)
	t.work <- func() { started <- cmd.Start() }
	return <-started
}

// stop ends the thread; the kernel then kills the children still running.
func (t *thread) stop() {
	close(t.work)
	<-t.done
}
