package qemu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// greetTimeout bounds how long a new process may take to speak QMP. It
	// takes well under a second; the rest is for a machine under load.
	greetTimeout = 30 * time.Second
	// quitTimeout is the time for a process to quit before it is killed.
	quitTimeout = 5 * time.Second
)

// asked is the requested outcome of a process's end.
type asked int

const (
	askedNothing asked = iota
	askedOff           // powered off by the board
	askedRestart       // shut down in order, to be started again
)

// process is one run of QEMU: from power-on or reset to the next of either.
type process struct {
	plan    Start
	cmd     *exec.Cmd
	monitor *monitor
	console net.Conn
	stderr  tail
	done    chan struct{} // closed when the process is reaped and all it said is read

	mu      sync.Mutex
	reason  string // of the SHUTDOWN event
	asked   asked
	waitErr error // valid after done
}

// launch starts QEMU with start (which puts it into the right namespace) and
// waits until it speaks. Lines of the console go to emit, all of it to serial.
func launch(ctx context.Context, spec Spec, plan Start, start func(*exec.Cmd) error,
	emit func(string), serial *Serial) (*process, error) {
	monitorEnd, qemuMonitor, err := socketPair()
	if err != nil {
		return nil, err
	}
	consoleEnd, qemuConsole, err := socketPair()
	if err != nil {
		return nil, errors.Join(err, monitorEnd.Close(), qemuMonitor.Close())
	}

	p := &process{plan: plan, console: consoleEnd, done: make(chan struct{})}
	p.cmd = exec.Command(program, args(spec, plan)...)
	p.cmd.ExtraFiles = []*os.File{qemuMonitor, qemuConsole} // qmpFD, consoleFD
	p.cmd.Stderr = &p.stderr
	err = start(p.cmd)
	// QEMU has copies by now; while we held ours, its end would not be seen.
	closeErr := errors.Join(qemuMonitor.Close(), qemuConsole.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start qemu: %w", err), closeErr, monitorEnd.Close(), consoleEnd.Close())
	}
	p.monitor = newMonitor(monitorEnd, p.onEvent)
	consoleDone := make(chan error, 1)
	serial.join(consoleEnd)
	go func() { consoleDone <- readConsole(consoleEnd, emit, serial.wrote) }()
	go p.reap(consoleDone)

	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	err = errors.Join(closeErr, p.monitor.handshake(ctx))
	if err == nil {
		err = p.unplug(ctx, spec.NICs)
	}
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("start qemu: %w: %s", err, p.stderr.String())
	}
	return p, nil
}

// unplug takes the link from NICs without a cable; QEMU alone would show the
// guest a link that leads nowhere.
func (p *process) unplug(ctx context.Context, nics []NIC) error {
	for i, id := range ids("nic", len(nics)) {
		if nics[i].Linked() {
			continue
		}
		if err := p.monitor.execute(ctx, "set_link", map[string]any{"name": id, "up": false}); err != nil {
			return err
		}
	}
	return nil
}

// socketPair makes a connected pair: ours, and one for QEMU to inherit.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket pair: %w", err)
	}
	near := os.NewFile(uintptr(fds[0]), "near")
	theirs = os.NewFile(uintptr(fds[1]), "far")
	ours, err = net.FileConn(near) // a copy
	if err := errors.Join(err, near.Close()); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("socket pair: %w", err), theirs.Close())
	}
	return ours, theirs, nil
}

// reap waits for the process and for everything it said.
func (p *process) reap(consoleDone <-chan error) {
	err := p.cmd.Wait()
	<-p.monitor.done
	err = errors.Join(err, <-consoleDone, p.monitor.conn.Close(), p.console.Close())
	p.mu.Lock()
	p.waitErr = err
	p.mu.Unlock()
	close(p.done)
}

func (p *process) onEvent(m message) {
	if m.Event != "SHUTDOWN" {
		return
	}
	var data shutdownData
	if err := json.Unmarshal(m.Data, &data); err != nil {
		data.Reason = "unreadable: " + err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reason = data.Reason
}

// ask notes the requested outcome of the process's end.
func (p *process) ask(what asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = what
}

// off ends the process, without asking the guest, and waits until it is gone.
func (p *process) off(ctx context.Context) {
	p.ask(askedOff)
	ctx, cancel := context.WithTimeout(ctx, quitTimeout)
	defer cancel()
	if err := p.monitor.execute(ctx, "quit", nil); err != nil {
		p.kill() // it hung up or hangs: either way it must be gone
		return
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
	}
}

// kill ends the process by its id and waits until it is reaped. The error of
// Kill can only say that it has ended already.
func (p *process) kill() {
	p.ask(askedOff)
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.stderr.add([]byte(err.Error()))
	}
	<-p.done
}

// verdict returns the next step after the end of the process: another start, or power off, with an error when no caller
// asked for that.
func (p *process) verdict() (again bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.asked == askedOff:
		return false, nil
	case p.reason == "guest-reset":
		return true, nil
	case p.reason == "guest-shutdown":
		return p.asked == askedRestart, nil
	}
	return false, fmt.Errorf("qemu ended by itself (reason %q): %w: %s", p.reason, or(p.waitErr, errHungUp),
		p.stderr.String())
}

// tail keeps the last part of the bytes written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is how much of QEMU's standard error an error message carries.
const maxTail = 2048

// Write implements io.Writer and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.add(p)
	return len(p), nil
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
