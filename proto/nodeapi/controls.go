package nodeapi

import (
	"fmt"
	"net/url"
	"strings"
)

// oneLine reports the fields of the API's documents that hold one line of text. Others, such as descriptions and
// fields below extra, may have several, as with Ironic.
func oneLine(field string) bool {
	switch field {
	case "name", "uuid", "owner", "lessee", "driver", "resource_class", "traits", "conductor_group", "shard",
		"address", "physical_network", "type", "connector_id", "volume_id", "volume_type", "id", "scope",
		"node", "node_uuid", "chassis_uuid", "instance_uuid", "portgroup_uuid", "parent_node", "instance_name",
		"candidate_nodes",
		"target", "boot_device", "device_type", "device_types", "image_url", "root_device":
		return true
	}
	return strings.HasSuffix(field, "_interface")
}

// CheckField refuses control characters in the value of a field, as encoding/json
// decodes it: databases end a text at a NUL, and terminals obey an ESC in a log.
// Line breaks and tabs are refused only where a value is of one line.
func CheckField(field string, v any) error {
	if err := CheckText(v); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if !oneLine(field) {
		return nil
	}
	list, _ := v.([]any)
	for _, item := range append(list, v) {
		if text, ok := item.(string); ok {
			if err := CheckLine(text); err != nil {
				return fmt.Errorf("%s: %w", field, err)
			}
		}
	}
	return nil
}

// CheckText refuses control characters in all strings of a decoded value, except
// tabs and line breaks in those that are no keys.
func CheckText(v any) error {
	switch v := v.(type) {
	case string:
		return refuseControls(v, "\t\n\r")
	case []any:
		for _, item := range v {
			if err := CheckText(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, item := range v {
			if err := CheckLine(key); err != nil {
				return err
			}
			if err := CheckText(item); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return nil
}

// CheckURL refuses control characters in the path and the query of a request, which
// end up in look-ups, answers and logs.
func CheckURL(u *url.URL) error {
	if err := CheckLine(u.Path); err != nil {
		return fmt.Errorf("the path: %w", err)
	}
	for name, values := range u.Query() {
		for _, text := range append(values, name) {
			if err := CheckLine(text); err != nil {
				return fmt.Errorf("the argument %q: %w", name, err)
			}
		}
	}
	return nil
}

// CheckLine refuses all control characters of ASCII.
func CheckLine(text string) error { return refuseControls(text, "") }

func refuseControls(text, but string) error {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c == 0x7f) && strings.IndexByte(but, c) < 0 {
			return fmt.Errorf("the control character U+%04X is not allowed, at byte %d; leave it out", c, i)
		}
	}
	return nil
}
