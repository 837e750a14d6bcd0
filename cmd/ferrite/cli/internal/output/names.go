package output

import (
	"encoding/json"
	"fmt"
	"io"
)

// nameFields are the fields that name a record in other commands, the best first.
var nameFields = []string{"name", "hostname", "mac", "uuid", "node", "address", "interface"}

// printNames writes the name of a record, or of each record of a list.
func printNames(w io.Writer, reply json.RawMessage) error {
	var v any
	if err := json.Unmarshal(reply, &v); err != nil {
		return fmt.Errorf("the conductor's answer: %w", err)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, item := range list {
		name, err := nameOf(item)
		if err == nil {
			_, err = fmt.Fprintln(w, VisibleLine(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func nameOf(item any) (string, error) {
	object, isObject := item.(map[string]any)
	if !isObject {
		return Cell(item), nil
	}
	for _, field := range nameFields {
		if text, ok := object[field].(string); ok && text != "" {
			return text, nil
		}
	}
	if of, ok := object["metadata"].(map[string]any); ok {
		return nameOf(of)
	}
	return "", fmt.Errorf("-o name: the answer has none of the fields %v; use -o json", nameFields)
}
