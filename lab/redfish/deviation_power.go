package redfish

import "github.com/ferrite-metal/ferrite/lab/qemu"

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
