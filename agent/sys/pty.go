package sys

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenPTY makes a pair of terminals (pty(7)): bytes that a program writes to tty are
// read from pty, and the other way round.
func (Linux) OpenPTY() (pty, tty *os.File, err error) {
	pty, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var number int
	err = onFD(pty, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make a terminal: %w", err), pty.Close())
	}
	return pty, tty, nil
}

// SetWindow sets the size of a terminal; the programs on it get SIGWINCH.
func (Linux) SetWindow(pty *os.File, columns, rows uint16) error {
	err := onFD(pty, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	})
	if err != nil {
		return fmt.Errorf("set the window of %s: %w", pty.Name(), err)
	}
	return nil
}

// Window is the size of a terminal, or of a PC's text mode if it has none.
func (Linux) Window(tty *os.File) (columns, rows int) {
	var size *unix.Winsize
	err := onFD(tty, func(fd int) (err error) {
		size, err = unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		return err
	})
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 25
	}
	return int(size.Col), int(size.Row)
}

// onFD runs f on a file's descriptor without changing the file: Fd would make reads of
// it block in a way that closing does not end.
func onFD(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
