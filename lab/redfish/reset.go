package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Where the reset actions are posted, below their resource.
const (
	resetAction        = "/Actions/ComputerSystem.Reset"
	managerResetAction = "/Actions/Manager.Reset"
)

// resetRequest is the body of both reset actions.
type resetRequest struct {
	ResetType qemu.ResetType
}

// resetSystem presses a button of the machine, now or, under the fault
// SlowPower, a while after the answer.
func (s *Server) resetSystem(r *http.Request, q resetRequest) (reply, error) {
	kind := q.ResetType
	if err := oneOf(resetName, "ResetType", kind, qemu.ResetTypes()...); err != nil {
		return reply{}, err
	}
	s.log.Info("reset", "type", kind)
	if slow, ok := s.faults.strikes(SlowPower); ok {
		s.late.Go(func() { s.resetLater(kind, slow.Delay) })
		return reply{}, nil
	}
	// A client that hangs up must not leave the machine half started.
	err := s.press(context.WithoutCancel(r.Context()), kind)
	if errors.Is(err, qemu.ErrPoweredOff) {
		return reply{}, problem(powerRequired).about("#/ResetType")
	}
	if err != nil {
		return reply{}, err
	}
	if s.personality.has(ResetByTask) {
		return s.accept(work{name: "Reset", request: requested(r, q), finish: func() error { return nil }})
	}
	return reply{}, nil
}

// press presses a button. Where that starts the machine, its firmware applies the pending settings.
func (s *Server) press(ctx context.Context, kind qemu.ResetType) error {
	before := s.machine.Power()
	if err := s.machine.Reset(ctx, kind); err != nil {
		return err
	}
	s.events.add("The system was reset: " + string(kind))
	s.recent.mark(buttonPressed)
	if before == qemu.On && s.machine.Power() == qemu.Off {
		s.recent.mark(machineStopped)
	}
	leavesRunning := []qemu.ResetType{qemu.ResetNmi, qemu.ResetOn, qemu.ResetForceOn}
	started := before == qemu.Off || !slices.Contains(leavesRunning, kind)
	if started && s.machine.Power() == qemu.On {
		s.recent.mark(machineStarted)
		if !s.personality.has(BiosByJob) {
			s.bios.start()
		}
		s.secureBoot.start(s.machine.Boot().Firmware)
		s.firmware.start()
		s.tasks.release()
	}
	return nil
}

// resetLater presses the button after delay, unless the controller ends first.
func (s *Server) resetLater(kind qemu.ResetType, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-s.life.Done():
	case <-timer.C:
		if err := s.press(s.life, kind); err != nil {
			s.log.Error("late reset failed", "type", kind, "err", err)
		}
	}
}

// resetManager restarts the controller: for a while it does not answer, and
// its sessions are gone.
func (s *Server) resetManager(_ *http.Request, q resetRequest) error {
	const graceful, hard = qemu.ResetGracefulRestart, qemu.ResetForceRestart
	if err := oneOf("Manager.Reset", "ResetType", q.ResetType, graceful, hard); err != nil {
		return err
	}
	if _, ignored := s.faults.strikes(RestartIgnored); !ignored {
		s.restart()
	}
	return nil
}

// restart is the controller's own; the answer to the request for it still
// gets out.
func (s *Server) restart() {
	s.log.Info("controller restarts", "for", s.config.RestartTime)
	s.events.add("The controller was reset")
	s.sessions.clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastReset = s.config.Now()
	s.awayUntil = s.lastReset.Add(s.config.RestartTime)
}

// away reports whether the controller is restarting.
func (s *Server) away() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config.Now().Before(s.awayUntil)
}
