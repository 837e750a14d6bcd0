package qemu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Power is a machine's power state, by its name in Redfish.
type Power string

// The power states. A reset, the guest's or the board's, is On throughout.
const (
	On  Power = "On"
	Off Power = "Off"
)

// ErrClosed is returned by a machine after Close.
var ErrClosed = errors.New("machine is closed")

// Options are the surroundings of a machine.
type Options struct {
	// Start starts a command: network.Namespace.Start, or exec.Cmd.Start for
	// a machine without taps. It must arrange that the command dies with us.
	Start func(*exec.Cmd) error
	Log   *slog.Logger
	// OnLine is called for every line of the serial console, in order, from
	// one goroutine at a time. It may be nil.
	OnLine func(Line)
	// OnProcess is called when the machine's process changes; pid is 0 when
	// the machine is off. It may be nil.
	OnProcess func(pid int)
}

// Machine is one virtual machine and the board around it. Its methods are
// safe to call from many goroutines.
type Machine struct {
	spec Spec
	opts Options

	op sync.Mutex // held for a whole power operation; taken before mu

	mu      sync.Mutex
	boot    Boot
	media   string
	process *process // nil when off
	starts  int
	last    Start
	lastErr error
	closed  bool

	watchers sync.WaitGroup
	serial   Serial
}

// New checks spec, fills in its defaults and returns the machine, powered off.
func New(spec Spec, opts Options) (*Machine, error) {
	spec = spec.withDefaults()
	if err := spec.validate(); err != nil {
		return nil, err
	}
	if opts.OnLine == nil {
		opts.OnLine = func(Line) {}
	}
	if opts.OnProcess == nil {
		opts.OnProcess = func(int) {}
	}
	opts.Log = opts.Log.With("machine", spec.Name)
	return &Machine{
		spec: spec, opts: opts,
		boot: Boot{Target: TargetNone, Enabled: Disabled, Firmware: spec.Firmware},
	}, nil
}

// Spec is the machine's hardware, with defaults filled in.
func (m *Machine) Spec() Spec { return m.spec }

// Power is the state a BMC would read.
func (m *Machine) Power() Power {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == nil {
		return Off
	}
	return On
}

// Starts is how often the machine has started, resets included, and the
// latest start.
func (m *Machine) Starts() (int, Start) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.starts, m.last
}

// Err is why the machine last went off by itself, or nil.
func (m *Machine) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastErr
}

// Boot returns the settings of the next start.
func (m *Machine) Boot() Boot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

// SetBoot changes the settings of the next start. Target None and Disabled go together: setting either clears the
// override.
func (m *Machine) SetBoot(b Boot) error {
	if b.Target == TargetNone || b.Enabled == Disabled {
		b.Target, b.Enabled = TargetNone, Disabled
	}
	if err := b.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot = b
	return nil
}

// Close powers the machine off for good and waits until nothing of it runs.
func (m *Machine) Close() error {
	m.op.Lock()
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.powerOff(context.Background())
	m.op.Unlock()
	m.watchers.Wait()
	return nil
}

func (m *Machine) current() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process
}

// powerOn starts the machine. The caller holds op.
func (m *Machine) powerOn(ctx context.Context) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	boot := m.boot
	plan := planStart(m.spec, boot, m.media)
	number := m.starts + 1
	m.mu.Unlock()

	if plan.Firmware == UEFI {
		if err := ensureVars(varsPath(m.spec)); err != nil {
			return err
		}
	}
	emit, closeLog, err := m.consoleSink(number, plan)
	if err != nil {
		return err
	}
	p, err := launch(ctx, m.spec, plan, m.opts.Start, emit, &m.serial)
	if err != nil {
		return errors.Join(fmt.Errorf("machine %s: %w", m.spec.Name, err), closeLog())
	}
	m.mu.Lock()
	m.process, m.starts, m.last, m.lastErr = p, number, plan, nil
	if m.boot == boot { // not changed in the meantime
		m.boot = boot.after()
	}
	m.mu.Unlock()
	m.opts.OnProcess(p.cmd.Process.Pid)
	m.opts.Log.Info("machine started", "start", number, "firmware", plan.Firmware, "order", plan.Order, "pid",
		p.cmd.Process.Pid)
	m.watchers.Go(func() {
		<-p.done
		if err := closeLog(); err != nil {
			m.opts.Log.Warn("console log not closed", "err", err)
		}
		m.op.Lock()
		defer m.op.Unlock()
		m.settle()
	})
	return nil
}

// powerOff ends the machine's process, if it has one. The caller holds op.
func (m *Machine) powerOff(ctx context.Context) {
	p := m.current()
	if p == nil {
		return
	}
	p.off(context.WithoutCancel(ctx)) // half off is no state
	m.wentOff(nil)
}

// wentOff records that the machine has no process any more.
func (m *Machine) wentOff(err error) {
	m.mu.Lock()
	m.process, m.lastErr = nil, err
	m.mu.Unlock()
	m.opts.OnProcess(0)
	if err != nil {
		m.opts.Log.Error("machine went off by itself", "err", err)
		return
	}
	m.opts.Log.Info("machine off")
}

// settle follows up on a process that ended by itself: a guest's reset is
// followed by the next start, with the boot order of now. The caller holds op.
func (m *Machine) settle() {
	p := m.current()
	if p == nil {
		return
	}
	select {
	case <-p.done:
	default:
		return
	}
	again, err := p.verdict()
	if again {
		err = m.powerOn(context.Background())
		if err == nil {
			return
		}
	}
	m.wentOff(err)
}

// consoleSink opens the console log for one start and returns the function that takes its lines.
func (m *Machine) consoleSink(number int, plan Start) (emit func(string), closeLog func() error, err error) {
	began := time.Now()
	var log *os.File
	closeLog = func() error { return nil }
	if m.spec.ConsoleLog != "" {
		log, err = os.OpenFile(m.spec.ConsoleLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, nil, fmt.Errorf("console log: %w", err)
		}
		closeLog = log.Close
	}
	write := func(format string, args ...any) {
		if log == nil {
			return
		}
		if _, err := fmt.Fprintf(log, format, args...); err != nil {
			m.opts.Log.Warn("console log not written", "err", err)
			log = nil // once is enough; the lines still go to OnLine
		}
	}
	write("--- start %d at %s, %s, boot order %s\n", number, began.UTC().Format(time.RFC3339), plan.Firmware,
		strings.Join(plan.Order, " "))
	return func(text string) {
		after := time.Since(began)
		write("%9.3f %s\n", after.Seconds(), text)
		m.opts.OnLine(Line{Start: number, After: after, Text: text})
	}, closeLog, nil
}
