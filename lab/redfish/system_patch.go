package redfish

import (
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// systemPatch holds the writable properties of a system.
type systemPatch struct {
	Boot *bootPatch
	indicatorPatch
}

// bootPatch is the part of Boot a client sends; missing properties stay.
type bootPatch struct {
	Enabled *qemu.Enabled `json:"BootSourceOverrideEnabled"`
	Mode    *bootMode     `json:"BootSourceOverrideMode"`
	Target  *qemu.Target  `json:"BootSourceOverrideTarget"`
}

// patchSystem changes the boot device of the next start, the light, or both; if one is refused, neither.
func (s *Server) patchSystem(r *http.Request, p systemPatch) (err error) {
	if p.Boot == nil && p.empty() {
		return problem(propertyMissing, "Boot").about("#/Boot")
	}
	var boot qemu.Boot
	var light led
	if p.Boot != nil {
		*p.Boot = s.bend(*p.Boot)
		if boot, err = p.Boot.apply(s.machine.Boot()); err != nil {
			return err
		}
	}
	if !p.empty() {
		if light, err = p.light(); err != nil {
			return err
		}
	}
	if p.Boot != nil { // before the light, which is never refused
		if err := s.setBoot(r, *p.Boot, boot); err != nil {
			return err
		}
	}
	if !p.empty() {
		s.indicators.set(systemPath, light)
	}
	return nil
}

// apply is boot with the patch's values, each checked against its list.
func (p bootPatch) apply(boot qemu.Boot) (qemu.Boot, error) {
	const at = "#/Boot/"
	if p.Mode != nil {
		if !slices.Contains([]bootMode{modeUEFI, modeLegacy}, *p.Mode) {
			return boot, problem(valueNotInList, string(*p.Mode), overrideMode).about(at + overrideMode)
		}
		boot.Firmware = map[bootMode]qemu.Firmware{modeUEFI: qemu.UEFI, modeLegacy: qemu.BIOS}[*p.Mode]
	}
	if p.Enabled != nil {
		if !slices.Contains([]qemu.Enabled{qemu.Disabled, qemu.Once, qemu.Continuous}, *p.Enabled) {
			return boot, problem(valueNotInList, string(*p.Enabled), overrideEnabled).about(at + overrideEnabled)
		}
		boot.Enabled = *p.Enabled
	}
	if p.Target != nil {
		if !slices.Contains(allowedTargets(qemu.UEFI), *p.Target) {
			return boot, problem(valueNotInList, string(*p.Target), overrideTarget).about(at + overrideTarget)
		}
		boot.Target = *p.Target
	}
	return boot, p.conflict(boot)
}

// conflict reports a result that would not do as the client means: a target that is not enabled would be dropped
// without an error.
func (p bootPatch) conflict(boot qemu.Boot) error {
	switch {
	case !slices.Contains(allowedTargets(boot.Firmware), boot.Target):
		return problem(valueConflict, overrideTarget, overrideMode).about("#/Boot/" + overrideTarget)
	case p.Target != nil && boot.Target != qemu.TargetNone && boot.Enabled == qemu.Disabled && p.Enabled == nil:
		return problem(valueConflict, overrideTarget, overrideEnabled).about("#/Boot/" + overrideEnabled)
	}
	return nil
}
