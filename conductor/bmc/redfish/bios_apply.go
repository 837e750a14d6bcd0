package redfish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// setting is one BIOS setting that an operator wants.
type setting struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// applyBIOS does bios.apply_configuration: it writes the settings that differ to the settings object, has the machine
// started, and reads back. If all settings are as wanted already, it costs no restart.
func applyBIOS(r *stepCall) (node.StepReport, error) {
	var a struct {
		Settings []setting `json:"settings"`
	}
	if err := r.arguments(&a); err != nil {
		return node.StepReport{}, err
	}
	b, err := r.bios()
	if err != nil {
		return node.StepReport{}, err
	}
	wanted, err := r.wanted(b, a.Settings)
	if err != nil {
		return node.StepReport{}, err
	}
	missing := b.differing(wanted)
	switch {
	case len(missing) == 0 && b.queued(wanted):
		return done("%d BIOS settings are as desired", len(wanted))
	case r.memory.Stage == "" && b.queued(wanted): // written by a conductor that died before its report
	case r.memory.Stage == "":
		if err := r.write(b, wanted); err != nil {
			return node.StepReport{}, err
		}
	case b.queued(wanted) && !r.overdue():
		return r.wait("the BIOS takes its settings at the start of the machine")
	case b.queued(wanted):
		return node.StepReport{},
			broken("the BIOS settings are still pending %s after the machine was restarted: %s; see the machine's console",
				r.patience, b.describe(missing, wanted))
	default:
		return node.StepReport{}, broken("the BMC did not take BIOS settings: %s; look into the BMC's log, and set them by "+
			"hand to see what they depend on",
			b.describe(missing, wanted))
	}
	r.enter("start")
	return r.reboot(fmt.Sprintf("a start of the machine for the BIOS settings %s", strings.Join(missing, ", ")))
}

// wanted checks the settings all at once, and gives their values types.
func (r *stepCall) wanted(b bios, settings []setting) (map[string]any, error) {
	if len(settings) == 0 {
		return nil, broken("settings is empty: name at least one BIOS setting")
	}
	registry, err := r.attributes(b)
	if err != nil {
		return nil, fmt.Errorf("read the registry of BIOS settings: %w", err)
	}
	wanted := map[string]any{}
	var wrong []string
	for _, s := range settings {
		current, exists := b.Attributes[s.Name]
		a, described := registry[s.Name]
		if !described {
			a = like(s.Name, current)
		}
		_, twice := wanted[s.Name]
		v, err := a.convert(s.Value)
		switch {
		case !exists:
			wrong = append(wrong, fmt.Sprintf("the BIOS has no setting %q%s", s.Name, b.hint(s.Name)))
		case twice:
			wrong = append(wrong, s.Name+" is there twice")
		case err != nil:
			wrong = append(wrong, err.Error())
		default:
			wanted[s.Name] = v
		}
	}
	if len(wrong) > 0 {
		return nil, broken("nothing was changed: %s", strings.Join(wrong, "; "))
	}
	return wanted, nil
}

// hinted is how many names an error lists.
const hinted = 40

// hint names the setting that may be meant, or those there are.
func (b bios) hint(name string) string {
	for known := range b.Attributes {
		if strings.EqualFold(known, name) {
			return fmt.Sprintf(", but %q", known)
		}
	}
	names := slices.Sorted(maps.Keys(b.Attributes))
	if more := len(names) - hinted; more > 0 {
		names = append(names[:hinted], fmt.Sprintf("%d more", more))
	}
	return "; it has " + strings.Join(names, ", ")
}

// write puts the settings for the next start into the settings object. A BMC without a settings object gets them where
// it shows them, as DSP0266, 9.10, has it for such resources (Cisco's CIMC, HPE Cray EX235a).
func (r *stepCall) write(b bios, wanted map[string]any) error {
	body := map[string]any{"Attributes": wanted}
	if slices.Contains(b.Settings.SupportedApplyTimes, "OnReset") {
		body["@Redfish.SettingsApplyTime"] = map[string]string{
			"@odata.type": "#Settings.v1_1_0.PreferredApplyTime", "ApplyTime": "OnReset",
		}
	}
	err := r.patch(cmp.Or(b.Settings.SettingsObject.Path, b.path), body)
	if b.Settings.SettingsObject.Path == "" && refusesValue(err) {
		return broken("the BMC shows BIOS settings, has no settings object to change them and refuses a change of those "+
			"it shows: change them by hand (%v)", describe(err))
	}
	return err
}
