package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// readSteps reads a list of steps: JSON in the flag itself, or a file of JSON
// or YAML. What the steps are is for the conductor to check.
func readSteps(what string) ([]any, error) {
	text, from := []byte(what), "the value"
	if !strings.HasPrefix(strings.TrimSpace(what), "[") {
		var err error
		if text, err = os.ReadFile(what); err != nil {
			return nil, fmt.Errorf("--steps: %q is no list in JSON and no file: %w", what, err)
		}
		from = what
	}
	doc, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("--steps: %s is neither JSON nor YAML: %w", from, err)
	}
	var steps []any
	if err := json.Unmarshal(doc, &steps); err != nil || len(steps) == 0 {
		return nil, fmt.Errorf("--steps: %s is no list of steps, such as [{interface: raid, step: delete_configuration, ...}]", from)
	}
	return steps, nil
}
