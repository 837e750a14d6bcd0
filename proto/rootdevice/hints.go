// Package rootdevice chooses the disk of a machine that an operating system is
// installed onto, by Ironic's root device hints. The agent asks it before it
// writes, the conductor when an operator wants to know beforehand: both get the
// same answer, with the reason for every disk.
//
// It is pure: disks and hints in, a choice out. It must not guess: hints that
// say nothing certain are refused.
package rootdevice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Hints say which disk is meant (Ironic's root_device, and one entry of
// skip_block_devices): all must match. Values are strings with or without an
// operator, numbers or booleans.
type Hints map[string]any

// From finds the hints for a node: the instance's before the node's own. None is no error.
func From(instanceInfo, properties map[string]any) (Hints, error) {
	for _, place := range []struct {
		name string
		info map[string]any
	}{{"instance_info", instanceInfo}, {"properties", properties}} {
		v, given := place.info["root_device"]
		if !given || v == nil {
			continue
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s.root_device: expected an object of hints, found %v", place.name, v)
		}
		if len(m) > 0 {
			return m, nil
		}
	}
	return nil, nil
}

// WishOf returns the wish for a node's root disk: by these hints or, when they are nil, by the node's own.
func WishOf(hints Hints, instanceInfo, properties map[string]any) (w Wish, err error) {
	w.Hints = hints
	if hints == nil {
		w.Hints, err = From(instanceInfo, properties)
	}
	if err == nil {
		err = w.Hints.Validate()
	}
	if err == nil {
		w.Skip, _, err = SkipFrom(properties)
	}
	return w, err
}

// SkipFrom reads properties.skip_block_devices, which an operator keeps for other uses: disks, each named by hints,
// and RAID volumes by name (volume_name). Only its disks show the place of a volume.
func SkipFrom(properties map[string]any) (disks []Hints, volumes []string, err error) {
	v, given := properties["skip_block_devices"]
	if !given || v == nil {
		return nil, nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, nil, fmt.Errorf("properties.skip_block_devices: expected a list of hints, found %v", v)
	}
	for _, item := range list {
		h, ok := item.(map[string]any)
		if !ok || len(h) == 0 {
			return nil, nil, fmt.Errorf("properties.skip_block_devices: expected an object of hints, found %v", item)
		}
		if name, volume := h["volume_name"]; volume {
			text, ok := name.(string)
			if !ok || text == "" {
				return nil, nil,
					fmt.Errorf("properties.skip_block_devices: expected the name of a RAID volume as volume_name, found %v", name)
			}
			volumes = append(volumes, text)
			continue
		}
		if err := Hints(h).Validate(); err != nil {
			return nil, nil, fmt.Errorf("properties.skip_block_devices: %w", err)
		}
		disks = append(disks, h)
	}
	return disks, volumes, nil
}

// KeptBy finds the entry that keeps a disk for another use, in a list as SkipFrom reads it; nil for none.
func KeptBy(skip []Hints, d agentapi.Disk) (Hints, error) {
	for _, h := range skip {
		kept, err := h.Match(d)
		if err != nil {
			return nil, fmt.Errorf("properties.skip_block_devices: %w", err)
		}
		if kept {
			return h, nil
		}
	}
	return nil, nil
}

// String lists the hints by name.
func (h Hints) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, fmt.Sprintf("%s=%v", k, h[k]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Validate refuses hints that could match no disk of any machine, and unknown hints: leaving one out could choose
// another disk than was meant.
func (h Hints) Validate() error {
	_, err := h.parse()
	return err
}

// Match reports whether a disk satisfies all hints.
func (h Hints) Match(d agentapi.Disk) (bool, error) {
	tests, err := h.parse()
	if err != nil {
		return false, err
	}
	return len(failures(tests, d)) == 0, nil
}

// test is one hint, understood.
type test struct {
	key    string
	wanted any // as it was given
	holds  func(agentapi.Disk) bool
}

// parse understands all hints, in the order of their names.
func (h Hints) parse() ([]test, error) {
	var tests []test
	for _, key := range slices.Sorted(maps.Keys(h)) {
		holds, err := parseHint(key, h[key])
		if err != nil {
			return nil, fmt.Errorf("root_device hint %s: %w", key, err)
		}
		tests = append(tests, test{key, h[key], holds})
	}
	return tests, nil
}

// Keys are the keys that hints can have.
func Keys() []string {
	return append([]string{"size", "rotational"}, slices.Sorted(maps.Keys(texts()))...)
}

func parseHint(key string, hint any) (func(agentapi.Disk) bool, error) {
	switch key {
	case "size":
		holds, err := parseNumber(hint)
		if err != nil {
			return nil, err
		}
		return func(d agentapi.Disk) bool { return holds(inGiB(d.Size)) }, nil
	case "rotational":
		want, err := parseTruth(hint)
		if err != nil {
			return nil, err
		}
		return func(d agentapi.Disk) bool { return d.Rotational == want }, nil
	}
	values, known := texts()[key]
	if !known {
		return nil, fmt.Errorf("not known; known are %s", strings.Join(Keys(), ", "))
	}
	holds, err := parseText(hint)
	if err != nil {
		return nil, err
	}
	return func(d agentapi.Disk) bool { return holds(values(d)) }, nil
}

// failures describes each hint that a disk does not satisfy: the wanted and the found value.
func failures(tests []test, d agentapi.Disk) []string {
	var out []string
	for _, t := range tests {
		if !t.holds(d) {
			out = append(out, fmt.Sprintf("%s: wanted %v, found %s", t.key, t.wanted, found(t.key, d)))
		}
	}
	return out
}

// found is a disk's value for a hint, for people.
func found(key string, d agentapi.Disk) string {
	switch key {
	case "size":
		return fmt.Sprintf("%.4g GiB", inGiB(d.Size))
	case "rotational":
		return fmt.Sprint(d.Rotational)
	}
	all := texts()[key](d)
	if len(all) == 0 {
		return "nothing, the disk does not report it"
	}
	return all[0]
}

const bytesPerGiB = 1 << 30

func inGiB(size int64) float64 { return float64(size) / bytesPerGiB }

// texts returns a disk's values for a text hint: any of several may match.
func texts() map[string]func(agentapi.Disk) []string {
	one := func(of func(agentapi.Disk) string) func(agentapi.Disk) []string {
		return func(d agentapi.Disk) []string { return given(of(d)) }
	}
	return map[string]func(agentapi.Disk) []string{
		"name":                 paths(func(p agentapi.DiskPath) string { return p.Name }),
		"model":                one(func(d agentapi.Disk) string { return d.Model }),
		"serial":               serials,
		"vendor":               one(func(d agentapi.Disk) string { return d.Vendor }),
		"wwn":                  func(d agentapi.Disk) []string { return given(d.WWN, d.WWNWithExtension) },
		"wwn_with_extension":   one(func(d agentapi.Disk) string { return d.WWNWithExtension }),
		"wwn_vendor_extension": one(func(d agentapi.Disk) string { return d.WWNVendorExtension }),
		"hctl":                 paths(func(p agentapi.DiskPath) string { return p.HCTL }),
		"by_path":              paths(func(p agentapi.DiskPath) string { return p.ByPath }),
		"tran":                 one(func(d agentapi.Disk) string { return d.Transport }),
	}
}

// paths returns the value of each path to a disk, the current name first. The first path may change from boot to boot:
// a hint holds for any.
func paths(of func(agentapi.DiskPath) string) func(agentapi.Disk) []string {
	return func(d agentapi.Disk) []string {
		all := given(of(agentapi.DiskPath{Name: d.Name, HCTL: d.HCTL, ByPath: d.ByPath}))
		for _, p := range d.Paths {
			all = append(all, given(of(p))...)
		}
		return all
	}
}

// serials is the serial number and the other forms in which ironic-python-agent
// knows it from udev, so that hints taken from there hold here too: the model in
// front of it (ATA, NVMe), and for SCSI the world-wide name, bare and with the
// type of its designator, which is 3 for NAA.
func serials(d agentapi.Disk) []string {
	all := given(d.Serial)
	if d.Serial != "" && d.Model != "" {
		all = append(all, strings.ReplaceAll(d.Model, " ", "_")+"_"+d.Serial)
	}
	if name, naa := strings.CutPrefix(d.WWNWithExtension, "0x"); naa {
		all = append(all, name, "3"+name)
	}
	return all
}

// given leaves out empty values.
func given(values ...string) []string {
	return slices.DeleteFunc(values, func(s string) bool { return s == "" })
}
