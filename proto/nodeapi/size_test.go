package nodeapi

import (
	"strings"
	"testing"
)

func TestCheckSize(t *testing.T) {
	long := func(n int) any { return map[string]any{"a": strings.Repeat("<", n-8)} }
	for name, tc := range map[string]struct {
		was, is any
		field   string
		refused bool
	}{
		"as long as it may be": {nil, long(MaxField), "extra", false},
		"a byte more":          {nil, long(MaxField + 1), "extra", true},
		"shorter than before":  {long(MaxField + 9), long(MaxField + 8), "extra", false},
		"as it was":            {long(MaxField + 9), long(MaxField + 9), "extra", false},
		"longer than before":   {long(MaxField + 9), long(MaxField + 10), "extra", true},
		"a part with its own limit": {nil, map[string]any{ConfigDrive: strings.Repeat("x", MaxField)},
			"instance_info", false},
		"that part of another field": {nil, map[string]any{ConfigDrive: strings.Repeat("x", MaxField)}, "extra", true},
		"an argument of that name":   {nil, strings.Repeat("x", MaxField), ConfigDrive, false},
		"that part alone, and the rest": {nil, map[string]any{ConfigDrive: "x", "b": long(MaxField)},
			"instance_info", true},
		"a list":  {nil, []any{long(MaxField)}, "extra", true},
		"text":    {nil, strings.Repeat("\x01", MaxField/6+1), "extra", true},
		"nothing": {long(MaxField + 1), nil, "extra", false},
	} {
		if err := CheckSize(tc.field, tc.was, tc.is); (err != nil) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
