package redfish

import (
	"fmt"
	"slices"
)

const (
	biosRegistryID   = "LabBiosAttributeRegistry.1.0.0"
	biosRegistryPath = registryPath + "/" + biosRegistryID + "/" + biosRegistryID + ".json"
)

// biosAttribute is one setting: its type (AttributeRegistry, AttributeType)
// decides which of the limits count.
type biosAttribute struct {
	name, kind, help string
	initial          any
	values           []string // of an Enumeration
	lower, upper     int      // of an Integer; the upper one bounds a String's length
	readOnly         bool
}

// The types of attributes there are here.
const (
	enumeration = "Enumeration"
	integer     = "Integer"
	text        = "String"
	boolean     = "Boolean"
)

// biosAttributes are the settings, as a small server has them.
func biosAttributes() []biosAttribute {
	onOff := []string{"Enabled", "Disabled"}
	return []biosAttribute{
		{name: "AssetTag", kind: text, help: "Owner's label", initial: "", upper: 32},
		{name: "BootDelaySeconds", kind: integer, help: "Pause before the boot", initial: 0, upper: 60},
		{name: "LogicalProc", kind: enumeration, help: "Simultaneous multithreading", initial: "Enabled", values: onOff},
		{name: "ProcVirtualization", kind: enumeration, help: "Virtualization of processors", initial: "Enabled",
			values: onOff},
		{name: "QuietBoot", kind: boolean, help: "Hide messages at boot", initial: true},
		{name: "SriovGlobalEnable", kind: enumeration, help: "Virtual functions of network cards", initial: "Disabled",
			values: onOff},
		{name: "SystemFirmware", kind: text, help: "Name of the firmware", initial: "Lab", upper: 32, readOnly: true},
	}
}

func biosDefaults() map[string]any {
	values := map[string]any{}
	for _, a := range biosAttributes() {
		values[a.name] = a.initial
	}
	return values
}

// checkBiosAttribute says why a value is refused.
func checkBiosAttribute(name string, value any) error {
	at := "#/Attributes/" + name
	all := biosAttributes()
	i := slices.IndexFunc(all, func(a biosAttribute) bool { return a.name == name })
	if i < 0 {
		return problem(propertyUnknown, name).about(at)
	}
	a, said := all[i], fmt.Sprint(value)
	if a.readOnly {
		return problem(notWritable, name).about(at)
	}
	switch v := value.(type) {
	case string:
		switch {
		case a.kind == enumeration && !slices.Contains(a.values, v):
			return problem(valueNotInList, said, name).about(at)
		case a.kind == text && len(v) > a.upper:
			return problem(valueOutOfRange, said, name).about(at)
		case a.kind == enumeration, a.kind == text:
			return nil
		}
	case float64:
		switch {
		case a.kind == integer && (v < float64(a.lower) || v > float64(a.upper)):
			return problem(valueOutOfRange, said, name).about(at)
		case a.kind == integer && v == float64(int(v)):
			return nil
		}
	case bool:
		if a.kind == boolean {
			return nil
		}
	}
	return problem(valueType, said, name).about(at)
}

// registryAttribute leaves out the limits that its type does not have.
type registryAttribute struct {
	AttributeName string
	Type          string
	DisplayName   string
	ReadOnly      bool
	ResetRequired bool
	CurrentValue  any
	DefaultValue  any
	LowerBound    *int            `json:",omitempty"`
	UpperBound    *int            `json:",omitempty"`
	MinLength     *int            `json:",omitempty"`
	MaxLength     *int            `json:",omitempty"`
	Value         []registryValue `json:",omitempty"`
}

type registryValue struct {
	ValueName        string
	ValueDisplayName string
}

// registryAttributes are the settings with the values in force, as a registry describes them.
func registryAttributes(now map[string]any) (entries []registryAttribute) {
	for _, a := range biosAttributes() {
		entry := registryAttribute{
			AttributeName: a.name, Type: a.kind, DisplayName: a.help, ReadOnly: a.readOnly, ResetRequired: true,
			CurrentValue: now[a.name], DefaultValue: a.initial,
		}
		switch a.kind {
		case integer:
			entry.LowerBound, entry.UpperBound = &a.lower, &a.upper
		case text:
			entry.MinLength, entry.MaxLength = &a.lower, &a.upper
		}
		for _, v := range a.values {
			entry.Value = append(entry.Value, registryValue{v, v})
		}
		entries = append(entries, entry)
	}
	return entries
}
