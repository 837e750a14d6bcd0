package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

const apiTitle = "REST API, route by route"

// readAPI reads the OpenAPI document. api.html walks it as it is; numbers stay as they are written.
func (s *Site) readAPI() (d map[string]any, err error) {
	text, err := s.api()
	if err != nil {
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&d); err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	return d, nil
}

func (s *Site) apiPage() ([]byte, error) {
	d, err := s.readAPI()
	if err != nil {
		return nil, err
	}
	d["title"] = apiTitle
	body, err := execute("api.html", d)
	if err != nil {
		return nil, err
	}
	return s.frame(apiPage, apiTitle, template.HTML(body)) //nolint:gosec // of a template
}

// resource is the part of a path that its group of routes is named by: /v1/nodes.
func resource(path string) string {
	parts := strings.Split(path, "/")
	if n := slices.Index(parts, "v1"); n >= 0 {
		parts = parts[:min(n+2, len(parts))]
	}
	return strings.Join(parts, "/")
}

// has reports whether a list of a JSON document has a value.
func has(list any, value string) bool {
	all, _ := list.([]any)
	return slices.Contains(all, any(value))
}

// mapOf makes a map for a template, of keys and values in turn.
func mapOf(pairs ...any) map[any]any {
	m := map[any]any{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = pair[1]
	}
	return m
}
