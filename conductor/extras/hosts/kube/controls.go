package kube

import (
	"encoding/json"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// checkControls refuses control characters in a decoded document, as for nodes. A
// Secret's stringData may hold any text: it is kept in base64, and shown nowhere.
func checkControls(document map[string]any) error {
	rest := make(map[string]any, len(document))
	for key, value := range document {
		if key != "stringData" {
			rest[key] = value
		}
	}
	return nodeapi.CheckText(rest)
}

// checkPatch refuses control characters in those parts of a patch that errors repeat and that are not part of the new
// document. Values of a JSON patch are left to the new document's check, since a Secret may have any.
func checkPatch(kind string, change []byte) error {
	if kind != jsonPatch {
		v, err := object(change)
		if err != nil {
			return err
		}
		return refusedText("patch", checkControls(v))
	}
	var operations []map[string]any
	if json.Unmarshal(change, &operations) != nil {
		return nil // whoever does it refuses it
	}
	for _, o := range operations {
		for key, text := range o {
			if key != "value" {
				if err := nodeapi.CheckText([]any{key, text}); err != nil {
					return refusedText("JSON patch", err)
				}
			}
		}
	}
	return nil
}

// refusedText is the answer to text that cannot be kept; nil when err is.
func refusedText(of string, err error) error {
	if err == nil {
		return nil
	}
	return badRequest("the %s has text that cannot be kept: %v", of, err)
}

// checkRequest refuses control characters in the path and the query, which end up
// in look-ups, answers and logs.
func checkRequest(c *call) error {
	if err := nodeapi.CheckLine(c.URL.Path); err != nil {
		return badRequest("the path: %v", err)
	}
	for name, values := range c.query {
		for _, text := range append(values, name) {
			if err := nodeapi.CheckLine(text); err != nil {
				return badRequest("the parameter %q: %v", name, err)
			}
		}
	}
	return nil
}
