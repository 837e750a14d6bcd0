package redfish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Personality is how a controller presents itself, and how it deviates. The zero value is the ideal one.
type Personality struct {
	Name string
	// Manufacturer and Model describe the system; ManagerModel is the controller's own.
	Manufacturer, Model, ManagerModel string
	// Vendor and Product describe the service root.
	Vendor, Product string
	// BIOSVersion and FirmwareVersion run until an update; an empty BIOSVersion is the version of QEMU's firmware.
	BIOSVersion, FirmwareVersion string
	RedfishVersion               string
	Deviations                   []Deviation
}

// Ideal is the personality without deviations.
const Ideal = "ideal"

// Personalities is the table of all personalities. Names of products and versions are those that the vendors'
// controllers show.
func Personalities() []Personality {
	return append([]Personality{Personality{}.complete()}, personalities()...)
}

// has reports whether the controller deviates so.
func (p Personality) has(d Deviation) bool { return slices.Contains(p.Deviations, d) }

// hasAny reports whether the controller has one of the deviations.
func (p Personality) hasAny(all ...Deviation) bool { return slices.ContainsFunc(all, p.has) }

// DriverInfo returns the keys of driver_info that an operator sets for such a controller, besides its address and
// credentials.
func (p Personality) DriverInfo() map[string]any {
	settings := map[string]any{}
	if p.has(LegacyTLS) {
		settings["redfish_tls"], settings["redfish_verify_ca"] = "legacy", false
	}
	if p.has(TwoSystems) {
		settings["redfish_system_id"] = systemPath
	}
	return settings
}

// Without is p without a deviation.
func (p Personality) Without(d Deviation) Personality {
	p.Deviations = slices.DeleteFunc(slices.Clone(p.Deviations), func(other Deviation) bool { return other == d })
	return p
}

// FindPersonality returns the personality called name; "" is the ideal one.
func FindPersonality(name string) (Personality, error) {
	if name == "" {
		name = Ideal
	}
	all := Personalities()
	i := slices.IndexFunc(all, func(p Personality) bool { return p.Name == name })
	if i < 0 {
		return Personality{}, fmt.Errorf("personality %q is not known: choose from %s", name,
			strings.Join(PersonalityNames(), ", "))
	}
	return all[i], nil
}

// PersonalityNames lists the names of all personalities.
func PersonalityNames() []string {
	var names []string
	for _, p := range Personalities() {
		names = append(names, p.Name)
	}
	return names
}

// complete fills in the strings of the ideal controller.
func (p Personality) complete() Personality {
	if p.Name != "" {
		return p
	}
	p.Name, p.Manufacturer, p.Model, p.ManagerModel = Ideal, qemu.Manufacturer, qemu.Model, "Lab Controller"
	p.Vendor, p.Product = qemu.Manufacturer, "Lab Controller"
	p.FirmwareVersion, p.RedfishVersion = "1.0.0", redfishVersion
	return p
}
