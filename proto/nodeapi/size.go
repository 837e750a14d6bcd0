package nodeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxText is the length of Ironic's text columns, in characters.
const MaxText = 255

// MaxField is how many bytes of JSON the value of a field may have: as many as the TEXT columns of Ironic's database.
const MaxField = 64 << 10

// ConfigDrive is the member of instance_info, and the argument of a deploy, that the limits of bodies bound instead.
const ConfigDrive = "configdrive"

// CheckSize refuses a value, as encoding/json decodes it, that is longer than MaxField and longer than the one it
// replaces: a value that was stored under a higher limit may shrink. A config drive does not count where it belongs.
func CheckSize(field string, was, value any) error {
	apart := ""
	switch field {
	case ConfigDrive:
		return nil
	case "instance_info":
		apart = ConfigDrive
	}
	n := sizeOf(value, apart)
	if n <= MaxField || n <= sizeOf(was, apart) {
		return nil
	}
	return fmt.Errorf("invalid %s: %d bytes of JSON, the limit is %d", field, n, MaxField)
}

// sizeOf is the bytes of a value as JSON, without one of its members.
func sizeOf(value any, apart string) int {
	if text, ok := value.(string); ok && len(text) < MaxField/6 { // of each byte, six at most
		return 0
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return 0 // it cannot have come out of JSON
	}
	n := b.Len() - 1 // the line break
	if m, ok := value.(map[string]any); ok && m[apart] != nil {
		n -= sizeOf(m[apart], "")
	}
	return n
}
