package nodeapi

import (
	"strings"
	"testing"
)

func TestCheckSize(t *testing.T) {
	long := func(n int) any { return map[string]any{"a": strings.Repeat("<", n-8)} }
	for name, tc := range map[string]struct {
		was, is any
		apart   []string
		refused bool
	}{
		"as long as it may be": {nil, long(MaxField), nil, false},
		"a byte more":          {nil, long(MaxField + 1), nil, true},
		"shorter than before":  {long(MaxField + 9), long(MaxField + 8), nil, false},
		"as it was":            {long(MaxField + 9), long(MaxField + 9), nil, false},
		"longer than before":   {long(MaxField + 9), long(MaxField + 10), nil, true},
		"a part with its own limit": {nil, map[string]any{ConfigDrive: strings.Repeat("x", MaxField)},
			[]string{ConfigDrive}, false},
		"that part alone, and the rest": {nil, map[string]any{ConfigDrive: "x", "b": long(MaxField)},
			[]string{ConfigDrive}, true},
		"a list":  {nil, []any{long(MaxField)}, nil, true},
		"text":    {nil, strings.Repeat("\x01", MaxField/6+1), nil, true},
		"nothing": {long(MaxField + 1), nil, nil, false},
	} {
		if err := CheckSize("extra", tc.was, tc.is, tc.apart...); (err != nil) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
