package redfish

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

const biosRegistryPath = registryPath + "/LabBiosAttributeRegistry.1.0.0/LabBiosAttributeRegistry.1.0.0.json"

// biosAttribute is one setting as the registry describes it: its type (AttributeRegistry, AttributeType) decides which
// of the limits count.
type biosAttribute struct {
	AttributeName string
	Type          string
	ReadOnly      bool
	DefaultValue  any
	LowerBound    float64
	UpperBound    float64
	MaxLength     int
	Value         []struct{ ValueName string }
}

// biosAttributes are the settings of the registry.
var biosAttributes = sync.OnceValue(func() []biosAttribute {
	var registry struct {
		RegistryEntries struct{ Attributes []biosAttribute }
	}
	must(json.Unmarshal(documents()[biosRegistryPath], &registry))
	return registry.RegistryEntries.Attributes
})

func biosDefaults() map[string]any {
	values := map[string]any{}
	for _, a := range biosAttributes() {
		values[a.AttributeName] = a.DefaultValue
	}
	return values
}

// checkBiosAttribute returns the reason against a value; nil for none.
func checkBiosAttribute(name string, value any) error {
	at := "#/Attributes/" + name
	all := biosAttributes()
	i := slices.IndexFunc(all, func(a biosAttribute) bool { return a.AttributeName == name })
	switch {
	case i < 0:
		return problem(propertyUnknown, name).about(at)
	case all[i].ReadOnly:
		return problem(notWritable, name).about(at)
	}
	if id := all[i].refusal(value); id != "" {
		return problem(id, fmt.Sprint(value), name).about(at)
	}
	return nil
}

// refusal is the message against a value; "" for none.
func (a biosAttribute) refusal(value any) messageID {
	word, isText := value.(string)
	number, isNumber := value.(float64)
	_, isBool := value.(bool)
	listed := slices.Contains(a.Value, struct{ ValueName string }{word})
	switch {
	case a.Type == "Enumeration" && isText && !listed:
		return valueNotInList
	case a.Type == "String" && isText && len(word) > a.MaxLength,
		a.Type == "Integer" && isNumber && (number < a.LowerBound || number > a.UpperBound):
		return valueOutOfRange
	case (a.Type == "Enumeration" || a.Type == "String") && isText, a.Type == "Boolean" && isBool,
		a.Type == "Integer" && isNumber && number == float64(int(number)):
		return ""
	}
	return valueType
}
