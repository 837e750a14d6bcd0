package redfish

import (
	"context"
	"net/http"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// targetUsbCd is the virtual CD of controllers that name it so.
const targetUsbCd qemu.Target = "UsbCd"

const systemSettingsPath = systemPath + "/Settings"

// allowedTargets are the targets that this controller lists.
func (s *Server) allowedTargets(f qemu.Firmware) []qemu.Target {
	targets := allowedTargets(f)
	for i := range targets {
		if targets[i] == qemu.TargetCd && s.personality.hasAny(UsbCd, CdIsADrive) {
			targets[i] = targetUsbCd
		}
	}
	if s.personality.has(CdIsADrive) {
		targets = append(targets, qemu.TargetCd)
	}
	return targets
}

// shownTarget is this controller's name of the target of an override.
func (s *Server) shownTarget(b qemu.Boot) qemu.Target {
	switch {
	case b.Target == qemu.TargetCd && s.personality.hasAny(UsbCd, CdIsADrive):
		return targetUsbCd
	case b.Target == qemu.TargetNone && b.Enabled != qemu.Disabled && s.emptyDriveAsked.Load():
		return qemu.TargetCd
	}
	return b.Target
}

// bend changes a boot patch as this controller understands it.
func (s *Server) bend(p bootPatch) bootPatch {
	if p.Target != nil && s.personality.hasAny(UsbCd, CdIsADrive, CdByAttribute) {
		s.emptyDriveAsked.Store(*p.Target == qemu.TargetCd)
		// Nothing boots from an empty drive.
		meant := map[qemu.Target]qemu.Target{qemu.TargetCd: qemu.TargetNone, targetUsbCd: qemu.TargetCd}
		if target, renamed := meant[*p.Target]; renamed {
			p.Target = &target
		}
	}
	if s.personality.has(TargetAloneKept) {
		now := s.machine.Boot()
		p.Enabled, p.Mode = &now.Enabled, nil
	}
	onlyUEFI := p.Target != nil && *p.Target == qemu.TargetUefiHTTP
	if p.Mode == nil && !onlyUEFI && s.personality.has(ModeFallsBack) {
		legacy := modeLegacy
		p.Mode = &legacy
	}
	return p
}

// setBoot takes a boot override, the mode at once or by a job.
func (s *Server) setBoot(r *http.Request, p bootPatch, boot qemu.Boot) error {
	now := s.machine.Boot()
	if later := boot.Firmware; p.Mode != nil && s.personality.has(ModeByJob) {
		s.tasks.drop(modeJob)
		boot.Firmware = now.Firmware
		if later != now.Firmware {
			s.addModeJob(r, later)
		}
	}
	if err := s.machine.SetBoot(boot); err != nil {
		return err
	}
	s.log.Info("boot override set", "target", boot.Target, "enabled", boot.Enabled, "firmware", boot.Firmware)
	return nil
}

// Names of jobs that a start of the machine carries out.
const (
	modeJob = "Configure: Boot Mode"
	biosJob = "Configure: BIOS.Setup.1-1"
)

func (s *Server) addModeJob(r *http.Request, f qemu.Firmware) {
	request := requested(r, map[string]any{"Boot": map[string]any{overrideMode: modeOf(f)}})
	s.tasks.add(work{name: modeJob, request: request, onReset: true, finish: func() error {
		boot := s.machine.Boot()
		if boot.Firmware = f; f == qemu.BIOS && boot.Target == qemu.TargetUefiHTTP {
			boot.Target, boot.Enabled = qemu.TargetNone, qemu.Disabled
		}
		if err := s.machine.SetBoot(boot); err != nil {
			return err
		}
		return s.endPOST()
	}})
}

// addBiosJob lets the next start apply the pending values.
func (s *Server) addBiosJob(r *http.Request) {
	s.tasks.drop(biosJob)
	s.tasks.add(work{name: biosJob, request: requested(r, struct{}{}), onReset: true, finish: func() error {
		s.bios.start()
		return s.endPOST()
	}})
}

// endPOST is the restart at the end of a job's own POST.
func (s *Server) endPOST() error {
	if s.machine.Power() != qemu.On {
		return nil
	}
	s.recent.mark(machineStarted)
	return s.machine.Reset(context.WithoutCancel(s.life), qemu.ResetForceRestart)
}

// attributesPath is where iDRACs have the attributes of their own.
const attributesPath = managerPath + "/Attributes"

const firstBootDevice, virtualCD = "ServerBoot.1.FirstBootDevice", "VCD-DVD"

func (s *Server) attributeValues() values {
	device := map[bool]string{true: virtualCD, false: "Normal"}[s.machine.Boot().Target == qemu.TargetCd]
	return values{"firstBootDevice": device}
}

// patchAttributes takes the virtual CD, and nothing else.
func (s *Server) patchAttributes(_ *http.Request, p struct{ Attributes map[string]string }) error {
	if p.Attributes[firstBootDevice] != virtualCD {
		return problem(valueNotInList, p.Attributes[firstBootDevice], firstBootDevice)
	}
	boot := s.machine.Boot()
	boot.Target, boot.Enabled = qemu.TargetCd, qemu.Once
	if p.Attributes["ServerBoot.1.BootOnce"] == "Disabled" {
		boot.Enabled = qemu.Continuous
	}
	return s.machine.SetBoot(boot)
}
