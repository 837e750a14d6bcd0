package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Hints say which disk is the root disk (Ironic's root_device): all must
// match. Values are strings with or without an operator, numbers or booleans.
type Hints map[string]any

// HintsFrom finds the hints for a node: those of the instance before those of
// the node itself. None is no error.
func HintsFrom(instanceInfo, properties map[string]any) (Hints, error) {
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

// ErrNoDisk is in the error of a machine without a disk that is certain to be
// the right one.
var ErrNoDisk = errors.New("no suitable disk")

// smallestRoot is the size from which a disk is taken for one to install an
// operating system on (4 GiB, as ironic-python-agent has it).
const smallestRoot = 4 << 30

// RootDisk chooses the disk to install onto. With hints it is the first, by
// size and name, that all of them match; without, the smallest of at least 4
// GiB and at least need bytes. Only when no disk reaches 4 GiB is the smallest
// taken that has need bytes. It never takes a disk that does not match.
func RootDisk(disks []agentapi.Disk, skipped []Skipped, hints Hints, need int64) (agentapi.Disk, error) {
	sorted := slices.Clone(disks)
	slices.SortStableFunc(sorted, func(a, b agentapi.Disk) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	if len(hints) > 0 {
		for _, d := range sorted {
			ok, err := hints.Match(d)
			if err != nil {
				return agentapi.Disk{}, err
			}
			if ok {
				return d, nil
			}
		}
		return agentapi.Disk{}, fmt.Errorf("%w: none matches root_device %s; %s", ErrNoDisk, hints, seen(disks, skipped))
	}
	for _, least := range []int64{max(need, smallestRoot), need} {
		for _, d := range sorted {
			if d.Size >= least && (least >= smallestRoot || sorted[len(sorted)-1].Size < smallestRoot) {
				return d, nil
			}
		}
	}
	return agentapi.Disk{}, fmt.Errorf("%w: none has %d bytes; %s", ErrNoDisk, max(need, 1), seen(disks, skipped))
}

// seen says what disks there are, and what was left out.
func seen(disks []agentapi.Disk, skipped []Skipped) string {
	var parts []string
	for _, d := range disks {
		part := fmt.Sprintf("%s (%d bytes", d.Name, d.Size)
		for _, f := range []struct{ name, value string }{{"model", d.Model}, {"serial", d.Serial}, {"wwn", d.WWN}} {
			if f.value != "" {
				part += fmt.Sprintf(", %s %q", f.name, f.value)
			}
		}
		parts = append(parts, part+")")
	}
	for _, s := range skipped {
		if s.Reason != "not hardware" {
			parts = append(parts, s.Name+" (left out: "+s.Reason+")")
		}
	}
	if len(parts) == 0 {
		return "there are no disks (is the controller's driver in the ramdisk?)"
	}
	return "disks seen: " + strings.Join(parts, ", ")
}

// String lists the hints by name.
func (h Hints) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, fmt.Sprintf("%s=%v", k, h[k]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// values is what a hint is compared with on a disk.
func values() map[string]func(agentapi.Disk) string {
	return map[string]func(agentapi.Disk) string{
		"name":                 func(d agentapi.Disk) string { return d.Name },
		"model":                func(d agentapi.Disk) string { return d.Model },
		"serial":               func(d agentapi.Disk) string { return d.Serial },
		"vendor":               func(d agentapi.Disk) string { return d.Vendor },
		"wwn":                  func(d agentapi.Disk) string { return d.WWN },
		"wwn_with_extension":   func(d agentapi.Disk) string { return d.WWNWithExtension },
		"wwn_vendor_extension": func(d agentapi.Disk) string { return d.WWNVendorExtension },
		"hctl":                 func(d agentapi.Disk) string { return d.HCTL },
		"by_path":              func(d agentapi.Disk) string { return d.ByPath },
		"tran":                 func(d agentapi.Disk) string { return d.Transport },
	}
}

// Match reports whether a disk satisfies all hints. A hint nobody knows is an
// error: leaving it out could choose another disk than was meant.
func (h Hints) Match(d agentapi.Disk) (bool, error) {
	all := true
	for _, key := range slices.Sorted(maps.Keys(h)) {
		ok, err := matchHint(key, h[key], d)
		if err != nil {
			return false, fmt.Errorf("root_device hint %s: %w", key, err)
		}
		all = all && ok
	}
	return all, nil
}

func matchHint(key string, hint any, d agentapi.Disk) (bool, error) {
	switch key {
	case "size":
		return matchSize(hint, d.Size)
	case "rotational":
		want, err := strconv.ParseBool(strings.ToLower(fmt.Sprint(hint)))
		if err != nil {
			return false, fmt.Errorf("%v is neither true nor false", hint)
		}
		return d.Rotational == want, nil
	}
	value, known := values()[key]
	if !known {
		return false, fmt.Errorf("not known; known are size, rotational, %s", strings.Join(slices.Sorted(maps.Keys(values())), ", "))
	}
	want, ok := hint.(string)
	if !ok {
		return false, fmt.Errorf("expected a string, found %v", hint)
	}
	have := strings.ToLower(value(d))
	return have != "" && matchText(strings.ToLower(unquote(want)), have), nil
}

// unquote undoes the URL quoting Ironic stores strings with.
func unquote(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

const bytesPerGiB = 1 << 30

// matchSize compares in GiB, as root_device has it. A number without operator
// must be met to the whole GiB, since disks are sold by rounded sizes.
func matchSize(hint any, size int64) (bool, error) {
	s := strings.TrimSpace(fmt.Sprint(hint))
	if f, ok := hint.(float64); ok { // a JSON number
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	op, number, found := strings.Cut(s, " ")
	if !found {
		op, number = "", s
	}
	want, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(want) || math.IsInf(want, 0) {
		return false, fmt.Errorf("%q is not a number of GiB with an operator before it", s)
	}
	if op == "" {
		return size/bytesPerGiB == int64(want), nil
	}
	compare, known := numberOperators()[op]
	if !known {
		return false, fmt.Errorf("operator %q is not one of =, ==, !=, >=, <=, >, <", op)
	}
	return compare(float64(size)/bytesPerGiB, want), nil
}
