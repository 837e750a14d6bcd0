package kube

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// masked is a document for the caller. Credentials in the URLs of its texts, the annotation of kubectl apply among
// them, are hidden from readers, just as in the API of nodes. Callers that may write documents see them, so that an
// edited document is complete when it is sent back.
func masked(c *call, d hostapi.Document) (hostapi.Document, error) {
	if unmasked(c) {
		return d, nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("mask %s %s: %w", c.kind.Kind, d.Meta().Name, err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("mask %s %s: %w", c.kind.Kind, d.Meta().Name, err)
	}
	if text, err = json.Marshal(maskTexts(v)); err != nil {
		return nil, fmt.Errorf("mask %s %s: %w", c.kind.Kind, d.Meta().Name, err)
	}
	shown := c.kind.New()
	return shown, json.Unmarshal(text, shown)
}

// unmasked reports whether the caller sees documents as they are.
func unmasked(c *call) bool {
	writes := auth.Rule{System: auth.Operator}
	return c.caller == nil || writes.Allows(c.caller, "", "")
}

// maskTexts masks in every text of a decoded value, which it changes.
func maskTexts(v any) any {
	switch v := v.(type) {
	case string:
		return nodeapi.MaskText(v)
	case []any:
		for i := range v {
			v[i] = maskTexts(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = maskTexts(v[key])
		}
	}
	return v
}
