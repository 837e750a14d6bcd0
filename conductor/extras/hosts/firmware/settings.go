package firmware

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Reasons of conditions of HostFirmwareSettings.
const (
	Success            = "Success"
	ConfigurationError = "ConfigurationError"
)

// Settings derives the HostFirmwareSettings of a host: every registered machine gets one, with the settings that its
// BMC has reported. changed is false when it is up to date, or when this host has none.
func Settings(facts Facts) (next hostapi.HostFirmwareSettings, changed bool) {
	if !KeepsFirmware(facts) {
		return next, false
	}
	next = hostapi.HostFirmwareSettings{
		ObjectMeta: hostapi.ObjectMeta{Name: facts.Host.Name, Namespace: facts.Host.Namespace},
		Spec:       hostapi.HostFirmwareSettingsSpec{Settings: map[string]hostapi.IntOrString{}},
	}
	was := facts.Documents.Settings
	if was != nil {
		next = *was
	}
	next.OwnerReferences = hostapi.WithOwner(next.OwnerReferences, hostapi.KindHost, facts.Host.ObjectMeta)
	next.Status = settingsStatus(facts, next)
	if was != nil && reflect.DeepEqual(next, *was) {
		return next, false
	}
	if was == nil || !reflect.DeepEqual(next.Status, was.Status) {
		at := hostapi.At(facts.Now)
		next.Status.LastUpdated = &at
	}
	return next, true
}

// settingsStatus compares the reported settings with the wanted ones.
func settingsStatus(facts Facts, of hostapi.HostFirmwareSettings) hostapi.HostFirmwareSettingsStatus {
	st := of.Status
	st.Settings, st.FirmwareSchema = map[string]string{}, nil
	for _, is := range facts.Report.BIOS {
		if !hostapi.SecretSetting(is.Name) {
			st.Settings[is.Name] = valueOf(is)
		}
	}
	if schema := facts.Documents.Schema; facts.Documents.Described {
		st.FirmwareSchema = of.Status.FirmwareSchema
	} else if schema != nil && held(*schema, of.UID) {
		st.FirmwareSchema = &hostapi.SchemaReference{Namespace: schema.Namespace, Name: schema.Name}
	}
	wanted, unknown := wantedSettings(facts, of.Spec.Settings)
	problems := append(wrongSettings(facts.Report.BIOS, wanted), unknown...)
	differs := len(problems) > 0 || len(differing(facts.Report.BIOS, wanted)) > 0
	st.Conditions = changeConditions(of.ObjectMeta, st.Conditions, differs, problems, Success,
		ConfigurationError, facts.Now)
	return st
}

func valueOf(s node.BIOSSetting) string {
	if s.Value == nil {
		return ""
	}
	return *s.Value
}

// settingIs reports whether a setting has a value. BMCs and people write true and
// numbers in different ways, and Ironic shows True.
func settingIs(is node.BIOSSetting, want hostapi.IntOrString) bool {
	value := valueOf(is)
	if value == want.Text {
		return true
	}
	switch is.AttributeType {
	case hostapi.SettingString, hostapi.SettingEnumeration:
		return false
	}
	a, errA := strconv.ParseInt(value, 10, 64)
	b, errB := strconv.ParseInt(want.Text, 10, 64)
	if errA == nil && errB == nil {
		return a == b
	}
	return strings.EqualFold(value, want.Text) && slices.Contains([]string{"true", "false"}, strings.ToLower(value))
}

// wrongSettings lists the wanted settings that are not possible, by name. If all of them have their wanted value
// already, nothing is wrong.
func wrongSettings(reported []node.BIOSSetting, wanted map[string]hostapi.IntOrString) (all []hostapi.Problem) {
	if len(wanted) > 0 && len(reported) == 0 {
		return []hostapi.Problem{{Path: "spec.settings", Reason: "the machine's BMC has reported no BIOS settings"}}
	}
	known, asIs := map[string]node.BIOSSetting{}, true
	for _, is := range reported {
		known[is.Name] = is
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		is, there := known[name]
		asIs = asIs && there && !hostapi.SecretSetting(name) && settingIs(is, wanted[name])
		reason := schemaOf(is).Refuses(name, wanted[name])
		if !there && !hostapi.SecretSetting(name) {
			reason = "the BIOS has no such setting" + meant(name, known)
		}
		if reason != "" {
			all = append(all, hostapi.Problem{Path: "spec.settings[" + name + "]", Value: wanted[name].Text, Reason: reason})
		}
	}
	if asIs {
		return nil
	}
	return all
}

// meant names a known setting that differs only in case, for the error about an unknown one.
func meant(name string, known map[string]node.BIOSSetting) string {
	for _, other := range slices.Sorted(maps.Keys(known)) {
		if strings.EqualFold(other, name) {
			return ", but " + other
		}
	}
	return ""
}

// maxWorded is how many problems a condition names.
const maxWorded = 20

// worded is problems as a condition has them.
func worded(problems []hostapi.Problem) string {
	var texts []string
	for _, p := range problems[:min(len(problems), maxWorded)] {
		texts = append(texts, p.String())
	}
	if more := len(problems) - maxWorded; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
