package translate

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Selection is which nodes are meant: of each field that is named, one of the patterns must match.
type Selection map[string][]string

// selectable are the fields that can be named.
var selectable = []string{"uuid", "name", "owner", "lessee", "conductor_group", "provision_state", "resource_class",
	"driver", "shard", "chassis_uuid", "maintenance"}

// ParseSelection reads FIELD=PATTERN, or a node's name or UUID.
func ParseSelection(args []string) (Selection, error) {
	s := Selection{}
	for _, arg := range args {
		field, pattern, ok := strings.Cut(arg, "=")
		if !ok {
			field, pattern = "name", arg
		}
		if !slices.Contains(selectable, field) {
			return nil, fmt.Errorf("--select %q: expected NODE or FIELD=PATTERN, where FIELD is one of %s", arg,
				strings.Join(selectable, ", "))
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("--select %q: %w", arg, err)
		}
		s[field] = append(s[field], pattern)
	}
	return s, nil
}

// Nodes are the selected ones.
func (s Selection) Nodes(all []Record) []Record {
	return slices.DeleteFunc(slices.Clone(all), func(n Record) bool { return !s.matches(n) })
}

func (s Selection) matches(n Record) bool {
	for field, patterns := range s {
		value := fmt.Sprint(n[field])
		if n[field] == nil {
			value = ""
		}
		if !slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, _ := path.Match(pattern, value) // the pattern was checked
			return ok || field == "name" && pattern == n["uuid"]
		}) {
			return false
		}
	}
	return true
}
