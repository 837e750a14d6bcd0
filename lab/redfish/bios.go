package redfish

import (
	"maps"
	"net/http"
	"slices"
	"sync"
)

const (
	biosPath         = systemPath + "/Bios"
	biosSettingsPath = biosPath + "/Settings"
	resetBiosAction  = "/Actions/Bios.ResetBios"
)

// bios is the firmware's setup screen: values in force, values that the next
// start takes, and a reset to the defaults that it does first. They are only
// kept: the firmware QEMU runs has no such settings.
type bios struct {
	ignores func() bool // whether the start that happens now forgets them

	mu       sync.Mutex
	values   map[string]any
	pending  map[string]any
	defaults bool // a reset is pending
}

func newBios(ignores func() bool) *bios {
	return &bios{ignores: ignores, values: biosDefaults(), pending: map[string]any{}}
}

// start applies the pending values, as the firmware does at a start of the machine.
func (b *bios) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if (b.defaults || len(b.pending) > 0) && !b.ignores() {
		if b.defaults {
			b.values = biosDefaults()
		}
		maps.Copy(b.values, b.pending)
	}
	b.pending, b.defaults = map[string]any{}, false
}

// ask adds to the pending values.
func (b *bios) ask(attributes map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.pending, attributes)
}

// askDefaults makes the reset pending, and nothing besides.
func (b *bios) askDefaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.defaults, b.pending = true, map[string]any{}
}

// biosChanged follows a change of the pending values; some controllers make a job of it.
func (s *Server) biosChanged(r *http.Request) {
	if s.personality.has(BiosByJob) {
		s.addBiosJob(r)
	}
}

// The times at which a change can be applied (Settings, OperationApplyTime).
const (
	applyImmediate = "Immediate"
	applyOnReset   = "OnReset"
)

// biosValues are the values of the three documents about the BIOS settings.
func (s *Server) biosValues() values {
	s.bios.mu.Lock()
	defer s.bios.mu.Unlock()
	v := values{"bios": maps.Clone(s.bios.values), "biosPending": maps.Clone(s.bios.pending), "biosReset": s.bios.defaults}
	maps.Copy(v, s.bios.values) // by their names, for the registry
	return v
}

// biosPatch holds the writable properties of the settings object.
type biosPatch struct {
	Attributes map[string]any
	ApplyTime  *applyTime `json:"@Redfish.SettingsApplyTime"`
}

// applyTime is Settings.PreferredApplyTime.
type applyTime struct {
	Type      string `json:"@odata.type"`
	ApplyTime string
}

// patchBiosSettings notes the values for the next start: all of them or none.
func (s *Server) patchBiosSettings(r *http.Request, p biosPatch) error {
	if len(p.Attributes) == 0 {
		return problem(propertyMissing, "Attributes").about("#/Attributes")
	}
	if p.ApplyTime != nil && p.ApplyTime.ApplyTime != applyOnReset {
		return problem(valueNotInList, p.ApplyTime.ApplyTime, "ApplyTime").about(
			"#/@Redfish.SettingsApplyTime/ApplyTime")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		if err := checkBiosAttribute(name, p.Attributes[name]); err != nil {
			return err
		}
	}
	s.bios.ask(p.Attributes)
	s.log.Info("bios settings pending", "attributes", p.Attributes)
	s.biosChanged(r)
	return nil
}

// resetBios lets the next start go back to the defaults. It drops the pending values.
func (s *Server) resetBios(r *http.Request, _ struct{}) error {
	s.bios.askDefaults()
	s.log.Info("bios reset pending")
	s.biosChanged(r)
	return nil
}
