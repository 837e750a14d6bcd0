package node

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HardwareReport holds the BIOS settings and firmware components that a BMC
// reported last, and the steps that the node's agent listed last. A nil part was
// not reported.
type HardwareReport struct {
	BIOS       []BIOSSetting
	Firmware   []FirmwareComponent
	AgentSteps map[Framework]AgentSteps `json:",omitempty"`
	// Vendor is the maker of the BMC or the machine, for properties. It is of one reading, and Update drops it.
	Vendor string `json:",omitempty"`
}

// BIOSSetting is one setting, with its entry in the BIOS's attribute registry. A part that is nil or "" is not known.
// Numbers and booleans are kept as text, as Ironic shows them; a password is never kept.
type BIOSSetting struct {
	Name  string  `json:"name"`
	Value *string `json:"value"`
	// Redfish's: Enumeration, Integer, String, Boolean, Password
	AttributeType   string    `json:"attribute_type,omitempty"`
	AllowableValues []string  `json:"allowable_values,omitempty"`
	LowerBound      *int64    `json:"lower_bound,omitempty"`
	UpperBound      *int64    `json:"upper_bound,omitempty"`
	MinLength       *int64    `json:"min_length,omitempty"`
	MaxLength       *int64    `json:"max_length,omitempty"`
	ReadOnly        *bool     `json:"read_only,omitempty"`
	ResetRequired   *bool     `json:"reset_required,omitempty"`
	Unique          *bool     `json:"unique,omitempty"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at,omitzero"`
}

// FirmwareComponent is one part of a machine with firmware of its own: bios,
// bmc, or nic: with the card's serial number or id.
type FirmwareComponent struct {
	Component          string    `json:"component"`
	InitialVersion     string    `json:"initial_version,omitempty"` // when it was seen first
	CurrentVersion     string    `json:"current_version,omitempty"`
	LastVersionFlashed string    `json:"last_version_flashed,omitempty"` // "" until the version was seen to change
	Vendor             string    `json:"vendor,omitempty"`
	Model              string    `json:"model,omitempty"`
	SerialNumber       string    `json:"serial_number,omitempty"`
	CreatedAt          time.Time `json:"created_at"`
	UpdatedAt          time.Time `json:"updated_at,omitzero"`
}

// SettingValue is a value of a setting as it is kept: text, booleans as Ironic
// writes them; nil for null.
func SettingValue(value any) *string {
	var text string
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		text = v
	case bool:
		text = map[bool]string{true: "True", false: "False"}[v]
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		raw, err := json.Marshal(v) // a list, or an object
		if err != nil {
			return nil
		}
		text = string(raw)
	}
	return &text
}

// maxComponents bounds the components that are kept of a machine.
const maxComponents = 1024

// maxComponentText is the length of Ironic's columns for the texts of a component.
const maxComponentText = 255

// Update is t with a BMC's newest report: settings that are gone go, components stay, since
// many BMCs show network cards only while the machine is on (Ironic has it so too). changed
// is false when nothing is new.
func (t HardwareReport) Update(now HardwareReport, at time.Time) (updated HardwareReport, changed bool) {
	updated = HardwareReport{BIOS: slices.Clone(t.BIOS), Firmware: slices.Clone(t.Firmware), AgentSteps: t.AgentSteps}
	if now.BIOS != nil {
		updated.BIOS, changed = updateBIOS(t.BIOS, bounded(now.BIOS), at)
	}
	for _, c := range now.Firmware {
		for _, text := range []*string{&c.Component, &c.CurrentVersion, &c.Vendor, &c.Model, &c.SerialNumber} {
			*text = strings.ToValidUTF8((*text)[:min(len(*text), maxComponentText)], "")
		}
		i := slices.IndexFunc(updated.Firmware, func(old FirmwareComponent) bool { return old.Component == c.Component })
		if i < 0 && len(updated.Firmware) >= maxComponents {
			continue // a BMC may name a new one each time
		}
		if i < 0 {
			c.InitialVersion, c.CreatedAt, changed = c.CurrentVersion, at, true
			updated.Firmware = append(updated.Firmware, c)
			continue
		}
		changed = updated.Firmware[i].update(c, at) || changed
	}
	return updated, changed
}

// maxBIOS bounds the settings that are kept of a machine, in bytes: the lists of the API have no pages. The largest
// report seen has nine hundred settings with their registry entries, and takes a fifth of it.
const maxBIOS = 2 << 20

// bounded is the first settings of a BMC that says too much.
func bounded(settings []BIOSSetting) []BIOSSetting {
	size := 0
	for i := range settings {
		raw, _ := json.Marshal(settings[i]) // texts and numbers
		if size += len(raw); size > maxBIOS {
			return settings[:i]
		}
	}
	return settings
}

// updateBIOS gives each setting the times of its row, in order of the names.
func updateBIOS(old, now []BIOSSetting, at time.Time) (updated []BIOSSetting, changed bool) {
	before := map[string]BIOSSetting{}
	for _, s := range old {
		before[s.Name] = s
	}
	updated = make([]BIOSSetting, 0, len(now))
	for _, s := range now {
		was, known := before[s.Name]
		s.CreatedAt, s.UpdatedAt = was.CreatedAt, was.UpdatedAt
		switch {
		case !known:
			s.CreatedAt, changed = at, true
		case !reflect.DeepEqual(s, was):
			s.UpdatedAt, changed = at, true
		}
		updated = append(updated, s)
	}
	slices.SortFunc(updated, func(a, b BIOSSetting) int { return strings.Compare(a.Name, b.Name) })
	return updated, changed || len(updated) != len(old)
}

func (c *FirmwareComponent) update(now FirmwareComponent, at time.Time) (changed bool) {
	if c.CurrentVersion != now.CurrentVersion {
		c.CurrentVersion, c.LastVersionFlashed, changed = now.CurrentVersion, now.CurrentVersion, true
	}
	for _, part := range []struct {
		is  *string
		now string
	}{{&c.Vendor, now.Vendor}, {&c.Model, now.Model}, {&c.SerialNumber, now.SerialNumber}} {
		if *part.is != part.now {
			*part.is, changed = part.now, true
		}
	}
	if changed {
		c.UpdatedAt = at
	}
	return changed
}
