package redfish

import (
	"net/http"
	"sync"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

const (
	secureBootPath  = systemPath + "/SecureBoot"
	resetKeysAction = "/Actions/SecureBoot.ResetKeys"
)

// The ways to reset the keys (SecureBoot, ResetKeysType).
const (
	keysToDefault = "ResetAllKeysToDefault"
	deleteAllKeys = "DeleteAllKeys"
)

// The modes the keys put the firmware in (SecureBoot, SecureBootModeType).
const (
	userMode  = "UserMode"
	setupMode = "SetupMode"
)

// secureBoot holds the firmware's demands on a boot loader. Like the BIOS settings they are only kept, and the next
// start applies the pending ones.
type secureBoot struct {
	mu      sync.Mutex
	enable  bool // from the next start
	current bool // since the last
	mode    string
	reset   string // pending; "" for none
}

func newSecureBoot() *secureBoot { return &secureBoot{mode: userMode} }

// start applies the pending settings. Without keys nothing can be demanded.
func (b *secureBoot) start(firmware qemu.Firmware) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.reset {
	case keysToDefault:
		b.mode = userMode
	case deleteAllKeys:
		b.mode = setupMode
	}
	b.reset = ""
	b.current = b.enable && b.mode == userMode && firmware == qemu.UEFI
}

func (s *Server) secureBootValues() values {
	s.secureBoot.mu.Lock()
	defer s.secureBoot.mu.Unlock()
	now := map[bool]string{true: "Enabled", false: "Disabled"}[s.secureBoot.current]
	return values{"secureBoot": s.secureBoot.enable, "secureBootNow": now, "secureBootMode": s.secureBoot.mode}
}

// patchSecureBoot sets whether the next start demands a signed loader; legacy firmware has no such setting.
func (s *Server) patchSecureBoot(_ *http.Request, p struct{ SecureBootEnable *bool }) error {
	if p.SecureBootEnable == nil {
		return problem(propertyMissing, "SecureBootEnable").about("#/SecureBootEnable")
	}
	if *p.SecureBootEnable && s.machine.Boot().Firmware != qemu.UEFI {
		return problem(valueConflict, "SecureBootEnable", "BootSourceOverrideMode").about("#/SecureBootEnable")
	}
	s.secureBoot.mu.Lock()
	defer s.secureBoot.mu.Unlock()
	s.secureBoot.enable = *p.SecureBootEnable
	return nil
}

func (s *Server) resetKeys(_ *http.Request, q struct{ ResetKeysType string }) error {
	if err := oneOf("SecureBoot.ResetKeys", "ResetKeysType", q.ResetKeysType, keysToDefault, deleteAllKeys); err != nil {
		return err
	}
	s.secureBoot.mu.Lock()
	defer s.secureBoot.mu.Unlock()
	s.secureBoot.reset = q.ResetKeysType
	s.log.Info("secure boot keys reset pending", "type", q.ResetKeysType)
	return nil
}
