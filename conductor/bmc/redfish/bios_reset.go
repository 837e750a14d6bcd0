package redfish

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// resetBIOS does bios.factory_reset: it calls ResetBios, has the machine started, and checks the result. Where a
// registry has the defaults, settings that have them already cost no restart.
func resetBIOS(r *stepCall) (node.StepReport, error) {
	if err := r.arguments(&struct{}{}); err != nil {
		return node.StepReport{}, err
	}
	b, err := r.bios()
	if err != nil {
		return node.StepReport{}, err
	}
	defaults, err := r.defaults(b)
	if err != nil {
		return node.StepReport{}, err
	}
	changed := b.differing(defaults)
	switch {
	case r.memory.Stage != "":
		return r.confirmReset(b, defaults)
	case b.ResetBiosToDefaultsPending: // requested by a conductor that died before its report
	case len(defaults) > 0 && len(changed) == 0 && len(b.pending) == 0:
		return done("all %d BIOS settings with a default have it", len(defaults))
	default:
		if _, err := r.ask(http.MethodPost, b.Actions.Reset.Target, map[string]any{}); err != nil {
			return node.StepReport{}, err
		}
	}
	r.enter("start")
	r.memory.Was = map[string]string{}
	for _, name := range changed {
		r.memory.Was[name] = text(b.Attributes[name])
	}
	return r.reboot("a start of the machine for the reset of the BIOS settings")
}

// defaults are the registry's defaults of the settings, without those that are read-only or hidden.
func (r *stepCall) defaults(b bios) (map[string]any, error) {
	registry, err := r.attributes(b)
	if err != nil {
		return nil, fmt.Errorf("read the registry of BIOS settings: %w", err)
	}
	all := map[string]any{}
	for name, a := range registry {
		if _, exists := b.Attributes[name]; exists && !a.ReadOnly && !a.Hidden && a.DefaultValue != nil {
			all[name] = a.DefaultValue
		}
	}
	return all, nil
}

// confirmReset fails when nothing has changed. Boards keep some settings through
// a reset, asset tags and the like: those are named and no failure.
func (r *stepCall) confirmReset(b bios, defaults map[string]any) (node.StepReport, error) {
	if b.ResetBiosToDefaultsPending {
		if r.overdue() {
			return node.StepReport{},
				broken("the reset of the BIOS settings is still pending %s after the machine was restarted: look at the "+
					"machine's console", r.patience)
		}
		return r.wait("the BIOS resets its settings at the start of the machine")
	}
	kept := b.differing(defaults)
	same := 0
	for _, name := range kept {
		if was, differed := r.memory.Was[name]; differed && was == text(b.Attributes[name]) {
			same++
		}
	}
	switch {
	case len(r.memory.Was) > 0 && same == len(r.memory.Was):
		return node.StepReport{}, broken("the BMC did not reset the BIOS settings: %s; look into the BMC's log",
			b.describe(kept, defaults))
	case len(kept) > 0:
		r.log.Warn("the BIOS kept settings through its reset", "settings", kept)
		return done("BIOS settings are reset, but the board kept %s", strings.Join(kept, ", "))
	}
	return done("BIOS settings are reset")
}
