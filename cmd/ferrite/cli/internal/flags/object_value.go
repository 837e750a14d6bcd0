package flags

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

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
