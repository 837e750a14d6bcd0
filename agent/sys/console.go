package sys

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Console makes /dev/console this process's standard input, output and error:
// in an initramfs without the node they are closed.
func (Linux) Console() error {
	fd, err := unix.Open("/dev/console", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("open /dev/console: %w", err)
	}
	for std := range 3 {
		if fd == std {
			continue
		}
		if err := unix.Dup3(fd, std, 0); err != nil {
			return fmt.Errorf("dup /dev/console to %d: %w", std, err)
		}
	}
	if fd > 2 {
		return unix.Close(fd)
	}
	return nil
}

// Consoles are the terminals the kernel prints to (console= on its command
// line), as /dev/ttyS0 or /dev/tty0.
func (Linux) Consoles() ([]string, error) {
	b, err := os.ReadFile("/sys/class/tty/console/active")
	if err != nil {
		return nil, err
	}
	var paths []string
	for name := range strings.FieldsSeq(string(b)) {
		paths = append(paths, filepath.Join("/dev", name))
	}
	return paths, nil
}

// OpenTerminal opens a terminal without making it the controlling one.
func (Linux) OpenTerminal(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
}

// OnTerminal makes cmd run as the leader of a session with the controlling terminal tty, so that a shell has job
// control and Ctrl-C.
func (Linux) OnTerminal(cmd *exec.Cmd, tty *os.File) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
}

// OnPipes makes cmd run as the leader of a session without a terminal, so that it and its children can be signalled
// together.
func (Linux) OnPipes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
}

// SignalSession signals the process group of a session's leader: without job
// control, as in the ramdisk's shell, that is every program of the session.
func (Linux) SignalSession(pid int, s unix.Signal) error {
	if err := unix.Kill(-pid, s); err != nil {
		return fmt.Errorf("signal %v to session %d: %w", s, pid, err)
	}
	return nil
}

// DeadChild is the process id of a child that has ended and was not waited for; 0 when
// there is none. The child stays until ReapChild.
func (Linux) DeadChild() (int, error) {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if errors.Is(err, unix.ECHILD) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("waitid: %w", err)
	}
	return siginfoPID(&info), nil
}

// ReapChild takes away the remains of a dead child.
func (Linux) ReapChild(pid int) error {
	if _, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err != nil && !errors.Is(err, unix.ECHILD) {
		return fmt.Errorf("wait for %d: %w", pid, err)
	}
	return nil
}
