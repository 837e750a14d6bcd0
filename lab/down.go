package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ferrite-metal/ferrite/lab/network"
)

const (
	// labPatience is the time for a lab's own process to close in order.
	labPatience = 30 * time.Second
	// childPatience is the time for children that the lab's process should have ended itself.
	childPatience = 5 * time.Second
)

// Down ends the lab in dir from another process. It asks the lab to close, and removes the remains of a lab that was
// killed. It touches only processes that the lab recorded and that are still the same. When dir holds no lab, the error
// is fs.ErrNotExist.
func Down(ctx context.Context, dir string, log *slog.Logger) error {
	state, err := ReadState(dir)
	if err != nil {
		return err
	}
	log = log.With("lab", state.ID)
	if state.Process.PID == os.Getpid() {
		return fmt.Errorf("lab %s is of this very process: close it", state.ID)
	}
	if state.Process.alive() {
		log.Info("asking the lab to close", "pid", state.Process.PID)
	}
	if err := state.Process.end(ctx, syscall.SIGTERM, labPatience); err != nil {
		return fmt.Errorf("lab %s: %w", state.ID, err)
	}
	// Its last word, in case machines changed while it was asked.
	if latest, err := ReadState(dir); err == nil {
		state = latest
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := state.clean(ctx, dir); err != nil {
		return fmt.Errorf("lab %s: %w", state.ID, err)
	}
	log.Info("lab is down")
	return nil
}

// clean removes the remains of a lab that did not close.
func (s State) clean(ctx context.Context, dir string) error {
	var errs []error
	for _, m := range s.Machines {
		if m.Process != nil {
			errs = append(errs, m.Process.end(ctx, syscall.SIGKILL, childPatience))
		}
	}
	for _, c := range s.Children {
		errs = append(errs, c.Process.end(ctx, syscall.SIGTERM, childPatience))
	}
	errs = append(errs, network.Remove(s.ID))
	for _, name := range []string{disksDir, runDir, stateFile + ".new"} {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, name)))
	}
	left, err := network.Sweep(s.ID)
	errs = append(errs, err)
	if len(left) > 0 {
		errs = append(errs, fmt.Errorf("left behind: %s", strings.Join(left, ", ")))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the state stays, to try again
	}
	if err := os.Remove(filepath.Join(dir, stateFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
