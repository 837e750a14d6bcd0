package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ferrite-metal/ferrite/lab/network"
)

// stopPatience is the time for a child to stop before it is killed.
const stopPatience = 10 * time.Second

// Child is a process run beside the machines, inside the lab's network.
type Child struct {
	Name string
	Log  string // the file with its standard output and error

	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid after done
}

// Start starts cmd inside the lab's network, its output appended to a log
// named after it. It ends with the lab at the latest.
func (l *Lab) Start(name string, cmd *exec.Cmd) (*Child, error) {
	return l.StartOn(l.Network, name, cmd)
}

// StartOn is Start on another host of the lab's network (network.Namespace.AddHost).
func (l *Lab) StartOn(host *network.Namespace, name string, cmd *exec.Cmd) (*Child, error) {
	c := &Child{Name: name, Log: filepath.Join(l.config.Dir, logsDir, name+".log"), cmd: cmd, done: make(chan struct{})}
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close() // the child has its own
	cmd.Stdout, cmd.Stderr = log, log
	if err := host.Start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	l.log.Info("process started", "name", name, "pid", c.PID(), "log", c.Log)
	// Before it can be reaped, so that its id is its own while we look.
	err = l.remember(c)
	go func() {
		c.err = cmd.Wait()
		l.forget(c)
		close(c.done)
	}()
	if err != nil {
		return nil, errors.Join(err, c.Kill())
	}
	return c, nil
}

// PID is the process's id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done is closed when the process has ended and was reaped.
func (c *Child) Done() <-chan struct{} { return c.done }

// Wait waits for the end and returns the result of exec.Cmd.Wait.
func (c *Child) Wait(ctx context.Context) error {
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("wait for %s: %w", c.Name, ctx.Err())
	}
}

// Stop asks the process to end and kills it when it does not. A process that
// has ended is fine.
func (c *Child) Stop() error {
	if err := c.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("%s: did not stop within %s and was killed", c.Name, stopPatience), c.Kill())
	}
}

// Kill ends the process as kill -9 does, and waits until it is gone.
func (c *Child) Kill() error {
	if err := c.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-c.done
	return nil
}

// Signal sends a signal; a process that has ended takes none, without error.
func (c *Child) Signal(s syscall.Signal) error {
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", c.Name, err)
	}
	return nil
}
