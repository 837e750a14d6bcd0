package boot

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// Children reports dead children and reaps them.
type Children interface {
	DeadChild() (pid int, err error)
	ReapChild(pid int) error
}

// Reaper reaps dead processes: process 1 inherits every orphan. The agent starts its
// own programs through Run, which keeps their exit status for the caller.
type Reaper struct {
	kernel Children
	log    *slog.Logger
	again  chan struct{} // a program of ours was waited for: look at the next

	mu  sync.Mutex
	own map[int]bool
}

// NewReaper makes a reaper; Reap does the work.
func NewReaper(kernel Children, log *slog.Logger) *Reaper {
	return &Reaper{kernel: kernel, log: log, again: make(chan struct{}, 1), own: map[int]bool{}}
}

// Run starts cmd and waits for its end.
func (r *Reaper) Run(cmd *exec.Cmd) error {
	if err := r.Start(cmd); err != nil {
		return err
	}
	return r.Wait(cmd)
}

// Start starts cmd. Its exit status then belongs to Wait.
func (r *Reaper) Start(cmd *exec.Cmd) error {
	r.mu.Lock() // no child is looked at between its start and its registration
	defer r.mu.Unlock()
	err := cmd.Start()
	if err == nil {
		r.own[cmd.Process.Pid] = true
	}
	return err
}

// Wait waits for the end of a process from Start.
func (r *Reaper) Wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	r.mu.Lock()
	delete(r.own, cmd.Process.Pid)
	r.mu.Unlock()
	select {
	case r.again <- struct{}{}:
	default:
	}
	return err
}

// Reap takes away dead children until ctx ends.
func (r *Reaper) Reap(ctx context.Context) {
	dead := make(chan os.Signal, 1)
	signal.Notify(dead, syscall.SIGCHLD)
	defer signal.Stop(dead)
	for {
		r.sweep()
		select {
		case <-ctx.Done():
			return
		case <-dead:
		case <-r.again:
		}
	}
}

// sweep takes away orphans until there is none, or one of ours is in the way:
// the kernel shows only one at a time.
func (r *Reaper) sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		pid, err := r.kernel.DeadChild()
		if err != nil {
			r.log.Warn("dead children cannot be seen", "err", err)
			return
		}
		if pid == 0 || r.own[pid] {
			return
		}
		if err := r.kernel.ReapChild(pid); err != nil {
			r.log.Warn("dead child stays", "pid", pid, "err", err)
			return
		}
	}
}
