package redfish

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// shownPower is the power state that this controller shows.
func (s *Server) shownPower() qemu.Power {
	power := s.machine.Power()
	switch d := s.config.Delays.Power; {
	case !s.personality.has(PowerInSteps):
	case power == qemu.On && s.recent.within(machineStarted, d):
		return "PoweringOn"
	case power == qemu.Off && s.recent.within(machineStopped, d):
		return "PoweringOff"
	}
	return power
}

// resetRefusal is why this controller, other than the ideal one, refuses a reset; nil for none.
func (s *Server) resetRefusal(kind qemu.ResetType) error {
	on := s.machine.Power() == qemu.On
	starts := slices.Contains([]qemu.ResetType{qemu.ResetOn, qemu.ResetForceOn}, kind)
	stops := slices.Contains([]qemu.ResetType{qemu.ResetForceOff, qemu.ResetGracefulShutdown}, kind)
	state := map[bool]string{true: "on", false: "off"}[on]
	for _, c := range []struct {
		deviation Deviation
		refused   bool
		problem   *problemError
	}{
		{BusyAfterReset, s.recent.within(buttonPressed, s.config.Delays.Busy), problem(wrongSystemState)},
		{BusyAfterPowerOff, starts && !on && s.recent.within(machineStopped, s.config.Delays.Busy),
			problem(parameterConflict, string(kind), "ResetType")},
		{AlreadyThereRefused, starts && on || stops && !on, problem(alreadyThere, state)},
	} {
		if c.refused && s.personality.has(c.deviation) {
			return c.problem
		}
	}
	return nil
}

// notReady refuses inventory, settings and the boot override for a while after a start of the machine.
func (s *Server) notReady(r *http.Request) error {
	inside, below := strings.CutPrefix(r.URL.Path, systemPath)
	if !below || strings.HasPrefix(inside, "/Actions") || inside == "" && r.Method != http.MethodPatch {
		return nil
	}
	if s.personality.has(NotReady) && s.recent.within(machineStarted, s.config.Delays.NotReady) {
		return problem(dataUnavailable)
	}
	return nil
}
