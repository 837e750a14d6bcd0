package hostapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Types of settings, as Redfish has them.
const (
	SettingEnumeration = "Enumeration"
	SettingString      = "String"
	SettingInteger     = "Integer"
	SettingBoolean     = "Boolean"
	SettingPassword    = "Password"
)

// SecretSetting reports whether a setting is taken for a password: it is neither
// shown nor set. Some vendors show theirs, encrypted, among all others.
func SecretSetting(name string) bool { return strings.Contains(name, "Password") }

// Refuses returns the reason why a setting cannot have a value, "" when it can. A setting of unknown type can have
// any: its BIOS has not reported the type.
func (s SettingSchema) Refuses(name string, v IntOrString) (reason string) {
	switch {
	case s.ReadOnly != nil && *s.ReadOnly:
		return "it is read only"
	case SecretSetting(name) || s.AttributeType == SettingPassword:
		return "passwords are not set here: set it by the machine's controller"
	}
	switch s.AttributeType {
	case SettingEnumeration:
		if !slices.Contains(s.AllowableValues, v.Text) {
			return "expected one of " + strings.Join(s.AllowableValues, ", ")
		}
	case SettingInteger:
		return s.refusesNumber(v)
	case SettingString:
		return s.refusesText(v)
	case SettingBoolean:
		if !strings.EqualFold(v.Text, "true") && !strings.EqualFold(v.Text, "false") {
			return `expected "true" or "false"`
		}
	case "":
	default:
		return fmt.Sprintf("its type %s is not known here", s.AttributeType)
	}
	return ""
}

func (s SettingSchema) refusesNumber(v IntOrString) string {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	switch {
	case err != nil:
		return "expected a whole number"
	case s.LowerBound != nil && n < *s.LowerBound:
		return fmt.Sprintf("expected %d or more", *s.LowerBound)
	case s.UpperBound != nil && n > *s.UpperBound:
		return fmt.Sprintf("expected %d or less", *s.UpperBound)
	}
	return ""
}

func (s SettingSchema) refusesText(v IntOrString) string {
	n := int64(len(v.Text))
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		return fmt.Sprintf("expected %d characters or more, found %d", *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		return fmt.Sprintf("expected %d characters at the most, found %d", *s.MaxLength, n)
	}
	return ""
}
