package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process identifies a process beyond doubt: by its id and its start time. An id alone may belong to another process by
// the time it is signalled.
type Process struct {
	PID int `json:"pid"`
	// Started is in clock ticks since boot: field 22 of /proc/PID/stat.
	Started uint64 `json:"started"`
}

// identify reads the identity of the process that has the id now.
func identify(pid int) (Process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	state, started, err := parseStat(string(text))
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if state == "Z" { // ended, and only waiting for its parent
		return Process{}, fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	return Process{PID: pid, Started: started}, nil
}

// parseStat reads the state and the start time from /proc/PID/stat (proc(5)).
// The name before them may hold spaces and brackets, so fields count from the
// last bracket.
func parseStat(text string) (state string, started uint64, err error) {
	const stateAt, startedAt = 0, 19 // fields 3 and 22
	_, rest, found := cutLast(text, ")")
	fields := strings.Fields(rest)
	if !found || len(fields) <= startedAt {
		return "", 0, fmt.Errorf("stat %.80q: expected at least 22 fields", text)
	}
	started, err = strconv.ParseUint(fields[startedAt], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("stat: start time: %w", err)
	}
	return fields[stateAt], started, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// alive reports whether this very process still runs.
func (p Process) alive() bool {
	now, err := identify(p.PID)
	return err == nil && now == p
}

// end signals the process and waits until it is gone; past patience it is
// killed. It does nothing when the id belongs to another process by now.
func (p Process) end(ctx context.Context, first syscall.Signal, patience time.Duration) error {
	for _, signal := range []syscall.Signal{first, syscall.SIGKILL} {
		if !p.alive() {
			return nil
		}
		if err := syscall.Kill(p.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal process %d: %w", p.PID, err)
		}
		if err := p.gone(ctx, patience); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("process %d: still there after being killed", p.PID)
}

// gone waits until the process has ended. It is not our child, so we look.
func (p Process) gone(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for p.alive() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("process %d: still there: %w", p.PID, ctx.Err())
		}
	}
	return nil
}
