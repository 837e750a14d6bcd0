package inventory

import (
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
