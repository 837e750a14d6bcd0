package host

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// biosReport is a BIOS with one setting.
func biosReport(speed string) node.HardwareReport {
	return node.HardwareReport{
		BIOS: []node.BIOSSetting{{Name: "Speed", Value: &speed, AttributeType: hostapi.SettingEnumeration,
			AllowableValues: []string{"Slow", "Fast", "Faster"}}},
		Firmware: []node.FirmwareComponent{{Component: "bios", InitialVersion: "1", CurrentVersion: "1"}},
	}
}

// policy is when firmware is changed.
func policy(settings, updates hostapi.UpdatePolicy) *hostapi.HostUpdatePolicy {
	return &hostapi.HostUpdatePolicy{ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "default"},
		Spec: hostapi.HostUpdatePolicySpec{FirmwareSettings: settings, FirmwareUpdates: updates}}
}

// wish changes the wishes about the firmware: "" for none.
func (m *model) wish(speed, update string) {
	settings, components := hostapi.HostFirmwareSettings{}, hostapi.HostFirmwareComponents{}
	if m.firmware.Settings != nil {
		settings = *m.firmware.Settings
	}
	if m.firmware.Components != nil {
		components = *m.firmware.Components
	}
	settings.Spec.Settings, components.Spec.Updates = map[string]hostapi.IntOrString{}, []hostapi.FirmwareUpdate{}
	if speed != "" {
		settings.Spec.Settings["Speed"] = hostapi.IntOrString{Text: speed}
	}
	if update != "" {
		components.Spec.Updates = append(components.Spec.Updates, hostapi.FirmwareUpdate{Component: "bios", URL: update})
	}
	settings.Generation++
	components.Generation++
	m.firmware.Settings, m.firmware.Components = &settings, &components
}

// wishing reports whether the exploration is about a host with firmware. The BMCs of the others report none, which
// spares half of all situations.
func (m model) wishing() bool { return m.trail[0] == "firmware" || m.trail[0] == "serviced" }

// wished is a user that changes the wishes.
func wished(speed string) func(*model) bool {
	return func(m *model) bool {
		if m.wishing() {
			m.wish(speed, "http://images/bios-2")
		}
		return m.wishing()
	}
}

// withFirmware adds the BMC's report to a situation, and the documents about it as the reconciler brings them up to
// date.
func (m model) withFirmware(facts Facts) Facts {
	if !m.wishing() {
		return facts
	}
	facts.Firmware = m.firmware
	if m.n != nil && m.n.ProvisionState != node.Enroll && m.n.ProvisionState != node.Verifying {
		facts.HardwareReport = biosReport(m.speed)
	}
	for range 2 {
		if next, changed := firmware.Settings(facts.FirmwareFacts()); changed {
			next.Generation = max(next.Generation, 1)
			facts.Firmware.Settings = &next
		}
		if next, changed := firmware.Components(facts.FirmwareFacts()); changed {
			next.Generation = max(next.Generation, 1)
			facts.Firmware.Components = &next
		}
		if next, changed := firmware.Policy(facts.FirmwareFacts()); changed {
			facts.Firmware.Policy = &next
		}
	}
	return facts
}

// wishes is the text of the documents, without insignificant parts.
func (m model) wishes() string {
	text, f := "", m.firmware
	if f.Settings != nil {
		text = fmt.Sprint(f.Settings.Spec.Settings["Speed"], stands(f.Settings.Generation, f.Settings.Status.Conditions))
	}
	if f.Components != nil {
		text += fmt.Sprint(f.Components.Spec.Updates, f.Components.Status.Updates,
			stands(f.Components.Generation, f.Components.Status.Conditions))
	}
	return text + fmt.Sprint(f.Policy != nil)
}

func stands(generation int64, all []hostapi.Condition) (text string) {
	for _, c := range all {
		text += fmt.Sprint(c.Type, c.Status, c.ObservedGeneration == generation)
	}
	return text
}

// takeSteps applies the steps of a run that ended well.
func (m *model) takeSteps() {
	for _, s := range m.steps {
		settings, _ := s.Args["settings"].([]any)
		for _, item := range settings {
			if of, _ := item.(map[string]any); s.Interface == "bios" {
				m.speed = fmt.Sprint(of["value"])
			}
		}
	}
	m.steps = nil
}
