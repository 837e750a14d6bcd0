// Package flags reads flags with objects or lists as values.
package flags

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// ReadList reads a flag that is a list of objects: JSON in the flag itself, or a file of JSON or YAML. The conductor
// checks the objects.
func ReadList(flag, what string) ([]any, error) {
	text, from := []byte(what), "the value"
	if !strings.HasPrefix(strings.TrimSpace(what), "[") {
		var err error
		if text, err = os.ReadFile(what); err != nil {
			return nil, fmt.Errorf("--%s: %q is neither a list in JSON nor a file: %w", flag, what, err)
		}
		from = what
	}
	doc, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %s is neither JSON nor YAML: %w", flag, from, err)
	}
	var list []any
	if err := json.Unmarshal(doc, &list); err != nil || len(list) == 0 {
		return nil, fmt.Errorf("--%s: %s: expected a list of %s, like [%s]", flag, from, flag, listExamples[flag])
	}
	return list, nil
}

// IsDir reports whether path is a folder.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// listExamples are one object of each of the lists that flags can be.
var listExamples = map[string]string{
	"steps":      "{interface: raid, step: delete_configuration, ...}",
	"actions":    "{op: set-attribute, args: {path: /extra/rack, value: r1}}",
	"conditions": "{op: is-true, args: {value: \"{inventory[cpu][count]}\"}}",
}

// ReadObject reads a flag that is an object: JSON in the flag itself, or a file of JSON or YAML.
func ReadObject(flag, value string) (map[string]any, error) {
	text := []byte(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		var err error
		if text, err = os.ReadFile(value); err != nil {
			return nil, fmt.Errorf("--%s: %q is neither an object in JSON nor a file: %w", flag, value, err)
		}
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil || object == nil {
		return nil, fmt.Errorf("--%s: expected an object in JSON or YAML, such as {\"key\": 1}: %w", flag, err)
	}
	return object, nil
}
