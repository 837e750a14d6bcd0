package redfish

import (
	"encoding/json"
	"fmt"

	"github.com/stmcginnis/gofish/schemas"
)

// isRedfishError reports whether a body is an error document of DSP0266 (8.6), with a message of a registry. Other
// bodies are never repeated: a node's address may lead to another service, and its answers are not for users that edit
// nodes.
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

// foreignError replaces any other body of an error.
func foreignError(kind string) []byte {
	text, err := json.Marshal(
		map[string]any{"error": map[string]string{"message": fmt.Sprintf("no error of Redfish, but %s", kind)}})
	if err != nil { // a text always encodes
		return []byte("{}")
	}
	return text
}
