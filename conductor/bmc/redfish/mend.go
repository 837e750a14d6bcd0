package redfish

import (
	"bytes"
	"encoding/json"
)

// mendRoot takes out of a service root what gofish gives up on, and with it on the whole BMC: ExpandQuery of another
// kind than an object (DSP0268), as false for a service that cannot expand. Nothing here expands.
func mendRoot(body []byte) []byte {
	const features, expand = "ProtocolFeaturesSupported", "ExpandQuery"
	var root, supported map[string]json.RawMessage
	if json.Unmarshal(body, &root) != nil || json.Unmarshal(root[features], &supported) != nil ||
		len(supported[expand]) == 0 || bytes.HasPrefix(supported[expand], []byte("{")) {
		return body
	}
	delete(supported, expand)
	text, err := json.Marshal(supported)
	if err != nil {
		return body
	}
	root[features] = text
	if text, err = json.Marshal(root); err != nil {
		return body
	}
	return text
}
