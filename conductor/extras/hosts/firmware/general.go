package firmware

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// generalSetting is a field of spec.firmware, and the names of the BIOS setting that it stands for: of Dell, HPE,
// Lenovo and Supermicro, for processors of Intel and AMD.
type generalSetting struct {
	field string
	names []string
	value func(f hostapi.Firmware) *bool
}

var generalSettings = []generalSetting{
	{"virtualizationEnabled", []string{"ProcVirtualization", "Processors_IntelVirtualizationTechnology",
		"IntelVirtualizationTechnology", "SVMMode"},
		func(f hostapi.Firmware) *bool { return f.VirtualizationEnabled }},
	{"simultaneousMultithreadingEnabled", []string{"LogicalProc", "ProcHyperthreading", "Processors_HyperThreading",
		"Processors_SMTMode"},
		func(f hostapi.Firmware) *bool { return f.SimultaneousMultithreadingEnabled }},
	{"sriovEnabled", []string{"SriovGlobalEnable", "Sriov", "DevicesandIOPorts_SRIOV", "SR_IOVSupport"},
		func(f hostapi.Firmware) *bool { return f.SriovEnabled }},
}

// wantedSettings are the settings of a HostFirmwareSettings, and further ones of the host's spec.firmware. unknown are
// the fields of spec.firmware for which the BIOS has no setting.
func wantedSettings(facts Facts, named map[string]hostapi.IntOrString) (wanted map[string]hostapi.IntOrString,
	unknown []hostapi.Problem) {
	if facts.Host.Spec.Firmware == nil {
		return named, nil
	}
	wanted = map[string]hostapi.IntOrString{}
	maps.Copy(wanted, named)
	for _, g := range generalSettings {
		on := g.value(*facts.Host.Spec.Firmware)
		if on == nil {
			continue
		}
		i := slices.IndexFunc(facts.Report.BIOS, func(s node.BIOSSetting) bool { return slices.Contains(g.names, s.Name) })
		if i < 0 {
			unknown = append(unknown, hostapi.Problem{Path: "spec.firmware." + g.field + " of the host",
				Reason: fmt.Sprintf("the machine's BMC reports none of the BIOS settings %s: name the setting in spec.settings",
					strings.Join(g.names, ", "))})
			continue
		}
		is := facts.Report.BIOS[i]
		if _, has := wanted[is.Name]; !has {
			wanted[is.Name] = hostapi.IntOrString{Text: switched(is, *on)}
		}
	}
	return wanted, unknown
}

// switched is the value with which a BIOS says that a setting is on or off. Lenovo's older ones say Enable, and
// Disable.
func switched(s node.BIOSSetting, on bool) string {
	usual := map[bool]string{true: "Enabled", false: "Disabled"}[on]
	if s.AttributeType == hostapi.SettingBoolean {
		return fmt.Sprint(on)
	}
	i := slices.IndexFunc(s.AllowableValues, func(v string) bool {
		return strings.EqualFold(v, usual) || strings.EqualFold(v, strings.TrimSuffix(usual, "d"))
	})
	if i < 0 {
		return usual
	}
	return s.AllowableValues[i]
}

// General reports whether the machine has all that its host's spec.firmware requests, and lists the fields without a
// setting of its BIOS.
func General(facts Facts) (inForce bool, unknown []hostapi.Problem) {
	if facts.Host.Spec.Firmware == nil || !KeepsFirmware(facts) {
		return false, nil
	}
	wanted, unknown := wantedSettings(facts, nil)
	return len(unknown) == 0 && len(differing(facts.Report.BIOS, wanted)) == 0, unknown
}
