package redfish

import (
	"slices"
	"strings"
	"testing"
)

// Each personality shows its own strings, and has deviations of the table alone.
func TestPersonalities(t *testing.T) {
	var known []Deviation
	for _, row := range Deviations() {
		known = append(known, row.Name)
	}
	for _, p := range Personalities() {
		b := newBench(t, func(c *Config) { c.Personality = p })
		for _, d := range p.Deviations {
			if !slices.Contains(known, d) {
				t.Errorf("%s has a deviation %s without a row", p.Name, d)
			}
		}
		if p.has(SlowAnswers) {
			continue
		}
		system, bmc := b.Read(t, systemPath), b.Read(t, managerPath)
		if system["Manufacturer"] != p.Manufacturer || system["Model"] != p.Model ||
			bmc["FirmwareVersion"] != p.FirmwareVersion || b.Read(t, rootPath)["RedfishVersion"] != p.RedfishVersion {
			t.Errorf("%s shows %v and %v", p.Name, system, bmc)
		}
		if found, err := FindPersonality(p.Name); err != nil || found.Name != p.Name {
			t.Errorf("%s is not found: %v", p.Name, err)
		}
	}
	if _, err := FindPersonality("ilo9"); err == nil || !strings.Contains(err.Error(), "choose from ideal, idrac8") {
		t.Errorf("a personality that is not there: %v", err)
	}
}
