package redfish

import "github.com/ferrite-metal/ferrite/lab/qemu"

// bootMode is BootSourceOverrideMode.
type bootMode string

const (
	modeUEFI   bootMode = "UEFI"
	modeLegacy bootMode = "Legacy"
)

// modeOf is Redfish's word for a firmware.
func modeOf(f qemu.Firmware) bootMode {
	if f == qemu.BIOS {
		return modeLegacy
	}
	return modeUEFI
}

// allowedTargets are the boot targets of the ideal controller; HTTP boot is UEFI's alone.
func allowedTargets(f qemu.Firmware) []qemu.Target {
	targets := []qemu.Target{qemu.TargetNone, qemu.TargetPxe, qemu.TargetHdd, qemu.TargetCd}
	if f == qemu.UEFI {
		targets = append(targets, qemu.TargetUefiHTTP)
	}
	return targets
}

func (s *Server) bootValues() values {
	boot := s.machine.Boot()
	return values{"bootEnabled": boot.Enabled, "bootMode": modeOf(boot.Firmware), "bootTarget": s.shownTarget(boot),
		"bootTargets": s.allowedTargets(boot.Firmware)}
}

func (s *Server) systemValues() values {
	v := s.bootValues()
	v["power"], v["biosVersion"] = s.shownPower(), s.firmwareVersion(biosFirmware)
	v["state"] = map[bool]string{true: "StandbyOffline", false: "Enabled"}[s.machine.Power() == qemu.Off]
	s.mu.Lock()
	defer s.mu.Unlock()
	v["health"] = s.health
	return v
}
