package redfish

import (
	"encoding/json"
	"fmt"

	"github.com/stmcginnis/gofish/schemas"
)

// isRedfishError reports whether a body is an error document of DSP0266 (8.6),
// which says what is wrong by a registry's message. Other bodies are never
// repeated: an address may be that of a service whose answers are not for
// whoever edits nodes.
func isRedfishError(body []byte) bool {
	var d struct{ Error *schemas.Error }
	if json.Unmarshal(body, &d) != nil || d.Error == nil {
		return false
	}
	for _, i := range d.Error.ExtendedInfos {
		if i.MessageID != "" || i.Message != "" {
			return true
		}
	}
	return d.Error.Code != ""
}

// foreignError is what stands for any other body of an error.
func foreignError(kind string) []byte {
	text, err := json.Marshal(
		map[string]any{"error": map[string]string{"message": fmt.Sprintf("no error of Redfish, but %s", kind)}})
	if err != nil { // a text always encodes
		return []byte("{}")
	}
	return text
}
