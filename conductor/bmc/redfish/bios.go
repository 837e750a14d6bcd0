package redfish

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// bios is Bios: the settings in force, and where their future is written.
type bios struct {
	AttributeRegistry          string
	Attributes                 attributeValues
	ResetBiosToDefaultsPending bool
	Settings                   struct {
		SettingsObject      reference
		SupportedApplyTimes []string
		Messages            []struct{ Message string }
	} `json:"@Redfish.Settings"`
	Actions struct {
		Reset struct {
			Target string `json:"target"`
		} `json:"#Bios.ResetBios"`
	}
	path    string
	pending map[string]any
}

// attributeValues are the values of settings by name.
type attributeValues map[string]any

// UnmarshalJSON extracts the values of settings that are objects with a value and its description (HPE Cray EX235a). An
// object without a value becomes nil, since there is no value to compare.
func (a *attributeValues) UnmarshalJSON(b []byte) error {
	all := map[string]any{}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for name, v := range all {
		object, is := v.(map[string]any)
		if !is {
			continue
		}
		all[name] = nil
		for key, value := range object {
			switch strings.ReplaceAll(strings.ToLower(key), "_", "") {
			case "currentvalue", "value":
				all[name] = value
			}
		}
	}
	*a = all
	return nil
}

// bios reads the settings and the pending changes. Some BMCs' settings object repeats the settings in force; such
// entries are no changes.
func (s *session) bios() (b bios, err error) {
	l, err := s.systemLinks()
	if err != nil {
		return b, err
	}
	if l.Bios.Path == "" {
		return b, broken("the BMC does not offer BIOS settings for %s: update its firmware, or leave the step out", *s.system)
	}
	if _, err := s.get(l.Bios.Path, &b); err != nil {
		return b, err
	}
	b.path = l.Bios.Path
	if b.Settings.SettingsObject.Path == "" {
		return b, nil
	}
	var future struct{ Attributes attributeValues }
	if _, err := s.get(b.Settings.SettingsObject.Path, &future); err != nil {
		return b, err
	}
	b.pending = future.Attributes
	maps.DeleteFunc(b.pending, func(name string, v any) bool { return reflect.DeepEqual(b.Attributes[name], v) })
	return b, nil
}

// differing lists which settings are not, in order.
func (b bios) differing(wanted map[string]any) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !reflect.DeepEqual(b.Attributes[name], wanted[name]) {
			names = append(names, name)
		}
	}
	return names
}

// queued reports whether the next start brings the wanted settings.
func (b bios) queued(wanted map[string]any) bool {
	for name, v := range wanted {
		next, pending := b.pending[name]
		if !pending {
			next = b.Attributes[name]
		}
		if !reflect.DeepEqual(next, v) {
			return false
		}
	}
	return true
}

// describe lists the expected and the found value of each setting, for an error.
func (b bios) describe(names []string, wanted map[string]any) string {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf("%s: expected %v, found %v", name, wanted[name], b.Attributes[name]))
	}
	for _, m := range b.Settings.Messages {
		all = append(all, quote([]string{m.Message}))
	}
	return strings.Join(all, "; ")
}

// attribute is a setting as the BIOS's registry describes it.
type attribute struct {
	AttributeName          string
	Type                   string
	ReadOnly, Hidden       bool
	DefaultValue           any
	LowerBound, UpperBound *float64
	MinLength, MaxLength   *int64
	ResetRequired          *bool
	IsSystemUniqueProperty *bool
	Value                  []struct{ ValueName string }
}

// convert checks a value an operator wants and gives it the setting's type:
// Ironic takes every value as text.
func (a attribute) convert(v any) (any, error) {
	if a.ReadOnly {
		return nil, fmt.Errorf("%s is read only", a.AttributeName)
	}
	switch a.Type {
	case "Enumeration":
		var names []string
		for _, allowed := range a.Value {
			names = append(names, allowed.ValueName)
		}
		if len(names) > 0 && !slices.Contains(names, fmt.Sprint(v)) {
			return nil, fmt.Errorf("%s cannot be %v, only one of %s", a.AttributeName, v, strings.Join(names, ", "))
		}
		return fmt.Sprint(v), nil
	case "Integer":
		n, err := number(v)
		if err != nil || a.LowerBound != nil && n < *a.LowerBound || a.UpperBound != nil && n > *a.UpperBound {
			return nil, fmt.Errorf("%s cannot be %v, only a whole number from %s to %s", a.AttributeName, v, bound(a.LowerBound),
				bound(a.UpperBound))
		}
		return n, nil
	case "Boolean":
		on, err := strconv.ParseBool(strings.ToLower(fmt.Sprint(v)))
		if err != nil {
			return nil, fmt.Errorf("%s cannot be %v, only true or false", a.AttributeName, v)
		}
		return on, nil
	case "String":
		text, ok := v.(string)
		if !ok || a.MinLength != nil && int64(len(text)) < *a.MinLength || a.MaxLength != nil &&
			int64(len(text)) > *a.MaxLength {
			return nil, fmt.Errorf("%s cannot be %v, only a text of the length that the BIOS allows", a.AttributeName, v)
		}
	}
	return v, nil
}

// like describes a setting without an entry in a registry, by its present value.
func like(name string, current any) attribute {
	a := attribute{AttributeName: name}
	switch current.(type) {
	case float64:
		a.Type = "Integer"
	case bool:
		a.Type = "Boolean"
	case string:
		a.Type = "String"
	}
	return a
}

// number is a whole number in any of the forms JSON and people have for it.
func number(v any) (float64, error) {
	n, err := strconv.ParseInt(text(v), 10, 64)
	return float64(n), err
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(encoded)
}

func bound(b *float64) string {
	if b == nil {
		return "any"
	}
	return strconv.FormatFloat(*b, 'f', -1, 64)
}
