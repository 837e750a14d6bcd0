package redfish

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// maxHardwareItems bounds how many settings, or components, are taken of a BMC; large
// servers have some 1,500 settings.
const maxHardwareItems = 4096

// ReportHardware reads BIOS settings and firmware. Parts that the BMC lacks or cannot show
// now are left out, as are parts that the node has no interface for.
func (d *Driver) ReportHardware(ctx context.Context, n node.Node) (report node.HardwareReport, err error) {
	err = d.call(ctx, n, "read BIOS settings and firmware", func(s *session) error {
		report, err = s.readHardware(n)
		return err
	})
	if err != nil {
		return node.HardwareReport{}, err
	}
	return report, nil
}

func (s *session) readHardware(n node.Node) (report node.HardwareReport, err error) {
	l, err := s.systemLinks()
	if err != nil {
		return report, err
	}
	if n.Properties["vendor"] == nil {
		if report.Vendor, err = s.vendor(l); err != nil {
			return report, err
		}
	}
	if !n.Off("bios") && l.Bios.Path != "" {
		if report.BIOS, err = s.settings(l.Bios.Path); err != nil {
			if err := s.optional("BIOS settings", err); err != nil {
				return report, err
			}
		}
	}
	if !n.Off("firmware") {
		if report.Firmware, err = s.components(l); err != nil {
			return report, err
		}
	}
	return report, nil
}

// vendor is the maker of the BMC, or else of the machine, as Ironic's detect_vendor finds it.
func (s *session) vendor(l systemLinks) (string, error) {
	top, err := s.root()
	if err != nil {
		return "", s.optional("vendor", err)
	}
	return cmp.Or(tidy(top.Vendor), tidy(l.Manufacturer)), nil
}

// settings reads the settings in force, with their descriptions in the registry.
func (s *session) settings(path string) ([]node.BIOSSetting, error) {
	var b bios
	if _, err := s.get(path, &b); err != nil {
		return nil, err
	}
	if len(b.Attributes) > maxHardwareItems {
		return nil, broken("the BIOS has %d settings, more than the %d that are taken", len(b.Attributes), maxHardwareItems)
	}
	registry, err := s.attributes(b)
	if err != nil {
		if err := s.optional("registry of BIOS settings", err); err != nil {
			return nil, err
		}
	}
	all := []node.BIOSSetting{}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		one := settingOf(name, b.Attributes[name], registry)
		if size += sizeOf(one); size > maxKept {
			return nil, tooMuch("BIOS settings", size, maxKept)
		}
		all = append(all, one)
	}
	return all, nil
}

// sizeOf is the size of a setting's texts, in bytes.
func sizeOf(s node.BIOSSetting) int {
	size := len(s.Name) + len(s.AttributeType)
	if s.Value != nil {
		size += len(*s.Value)
	}
	for _, v := range s.AllowableValues {
		size += len(v)
	}
	return size
}

// settingOf is one setting in the form that is stored. A BMC should not show a password (Bios, PasswordName); if it
// does, the value is dropped.
func settingOf(name string, value any, registry map[string]attribute) node.BIOSSetting {
	out := node.BIOSSetting{Name: label(name), Value: node.SettingValue(value)}
	if out.Value != nil {
		*out.Value = clip(*out.Value, maxValue)
	}
	a, described := registry[name]
	if a.Type == "Password" || !described && strings.Contains(strings.ToLower(name), "password") {
		out.Value = nil
	}
	if !described {
		return out
	}
	out.AttributeType, out.ReadOnly, out.ResetRequired, out.Unique = label(a.Type), &a.ReadOnly, a.ResetRequired,
		a.IsSystemUniqueProperty
	out.LowerBound, out.UpperBound, out.MinLength, out.MaxLength = whole(a.LowerBound), whole(a.UpperBound),
		a.MinLength, a.MaxLength
	for _, allowed := range a.Value {
		out.AllowableValues = append(out.AllowableValues, label(allowed.ValueName))
	}
	return out
}

func whole(bound *float64) *int64 {
	if bound == nil {
		return nil
	}
	n := int64(*bound)
	return &n
}

// components are the parts with firmware that Ironic has names for: the BIOS, the BMC and the network cards of the
// system's first enclosure.
func (s *session) components(l systemLinks) ([]node.FirmwareComponent, error) {
	var all []node.FirmwareComponent
	version, err := s.biosVersion(l.BiosVersion)
	if err != nil {
		return nil, err
	}
	if version != "" {
		all = append(all, node.FirmwareComponent{Component: "bios", CurrentVersion: label(version)})
	}
	if len(l.Links.ManagedBy) > 0 {
		var m manager
		if _, err := s.get(l.Links.ManagedBy[0].Path, &m); err != nil {
			if err := s.optional("BMC", err); err != nil {
				return nil, err
			}
		}
		if m.FirmwareVersion != "" {
			all = append(all, node.FirmwareComponent{Component: "bmc", CurrentVersion: label(m.FirmwareVersion),
				Model: label(m.Model)})
		}
	}
	cards, err := s.networkCards(l)
	if err != nil {
		return all, s.optional("network cards", err)
	}
	return append(all, cards...), nil
}

// networkAdapter is NetworkAdapter: a card, and the chips on it that have
// firmware.
type networkAdapter struct {
	ID                                string `json:"Id"`
	Manufacturer, Model, SerialNumber string
	Controllers                       []struct{ FirmwarePackageVersion string }
}

// networkCards reads the cards; none where the BMC shows none. A card with
// several chips counts once: they are flashed together.
func (s *session) networkCards(l systemLinks) ([]node.FirmwareComponent, error) {
	if len(l.Links.Chassis) == 0 {
		return nil, nil
	}
	var chassis struct{ NetworkAdapters reference }
	if _, err := s.get(l.Links.Chassis[0].Path, &chassis); err != nil || chassis.NetworkAdapters.Path == "" {
		return nil, err
	}
	paths, err := s.members(chassis.NetworkAdapters.Path)
	if err != nil {
		return nil, err
	}
	var all []node.FirmwareComponent
	for _, path := range paths[:min(len(paths), maxHardwareItems)] {
		var card networkAdapter
		if _, err := s.get(path, &card); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for _, chip := range card.Controllers {
			if chip.FirmwarePackageVersion == "" {
				continue
			}
			all = append(all, node.FirmwareComponent{
				Component: label("nic:" + cmp.Or(card.SerialNumber, card.ID)), CurrentVersion: label(chip.FirmwarePackageVersion),
				Vendor: label(card.Manufacturer), Model: label(card.Model), SerialNumber: label(card.SerialNumber),
			})
			break
		}
	}
	return all, nil
}

// reportAfter reads the settings and versions that a finished step may have changed. A BMC that cannot answer now (many
// restart after an update) is asked at the end of the run.
func (r *stepCall) reportAfter(kind string) *node.HardwareReport {
	if kind != "bios" && kind != "firmware" {
		return nil
	}
	report, err := r.readHardware(r.node)
	if err != nil {
		r.log.Warn("BIOS settings and firmware not read after a step", "err", describe(err))
		return nil
	}
	return &report
}
