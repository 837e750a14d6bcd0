package ui

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var update = flag.Bool("update", false, "write the generated sources of the interface anew")

// TestGenerated: the interface's types match the API's description, and its verbs match the table of states.
func TestGenerated(t *testing.T) {
	text, err := os.ReadFile("../testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{
		"web/src/api/schema.ts": d.types(),
		"web/src/api/states.ts": states(),
		"web/src/api/labels.ts": labels(),
	} {
		if *update {
			if err := os.WriteFile(path, want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		found, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(found, want) {
			t.Errorf("%s is not current (%v): go test ./conductor/api/ui -run Generated -update", path, err)
		}
	}
}

const heading = "// Generated: go test ./conductor/api/ui -run Generated -update\n\n"

// states is the table of states, as far as an operator moves a node.
func states() []byte {
	type verb struct {
		Verb string `json:"verb"`
		To   string `json:"to"`
		Why  string `json:"why"`
	}
	verbs := map[string][]verb{}
	for _, row := range node.Table {
		from := string(row.From)
		if verbs[from] == nil {
			verbs[from] = []verb{}
		}
		if row.By == node.ByRequest {
			verbs[from] = append(verbs[from], verb{string(row.On), string(row.To), row.Why})
		}
	}
	table, err := json.MarshalIndent(verbs, "", "  ")
	if err != nil {
		panic(err)
	}
	return []byte(heading + "// verbs are what an operator may ask for in each state, in the table's order.\n" +
		"export const verbs: Record<string, { verb: string; to: string; why: string }[]> = " + string(table) + "\n")
}

// labels is the part of the table of labels that has forms.
func labels() []byte {
	var b strings.Builder
	b.WriteString(heading + "// labels are the labels of forms, by the path that the API's errors name.\n" +
		"export const labels: Record<string, string> = {\n")
	for _, l := range nodeapi.NodeLabels() {
		if l.Form != "" {
			fmt.Fprintf(&b, "  '%s': '%s',\n", l.Path, l.Form)
		}
	}
	return []byte(b.String() + "}\n")
}

// schema is a JSON schema, as far as ours go.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
	Enum       []any              `json:"enum"`
	Const      any                `json:"const"`
	Additional json.RawMessage    `json:"additionalProperties"`
}

type content map[string]struct {
	Schema *schema `json:"schema"`
}

type operation struct {
	RequestBody struct {
		Content content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content content `json:"content"`
	} `json:"responses"`
}

// description is the description of the API.
type description struct {
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

// types is the named schemas as types, and the answer and body of each request.
func (d description) types() []byte {
	var b bytes.Buffer
	b.WriteString(heading)
	for _, name := range sortedKeys(d.Components.Schemas) {
		fmt.Fprintf(&b, "export type %s = %s\n\n", typeName(name), d.Components.Schemas[name].typescript(""))
	}
	b.WriteString("export interface Operations {\n")
	for _, path := range sortedKeys(d.Paths) {
		for _, method := range sortedKeys(d.Paths[path]) {
			var o operation
			if json.Unmarshal(d.Paths[path][method], &o) != nil { // the parameters of the path
				continue
			}
			answer, body := "undefined", one(o.RequestBody.Content)
			for status, r := range o.Responses {
				if strings.HasPrefix(status, "2") {
					answer = one(r.Content)
				}
			}
			if answer == "undefined" && body == "undefined" {
				continue
			}
			fmt.Fprintf(&b, "  '%s %s': {\n    answer: %s\n    body: %s\n  }\n", strings.ToUpper(method), path, answer, body)
		}
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// one is the type of a content, of which there is one.
func one(c content) string {
	for _, media := range sortedKeys(c) {
		if s := c[media].Schema; s != nil {
			return s.typescript("    ")
		}
	}
	return "undefined"
}

// plainKey needs no quotes as a key.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (s *schema) typescript(indent string) string {
	switch {
	case s == nil:
		return "unknown"
	case s.Ref != "":
		return typeName(s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
	case s.Const != nil:
		return literal(s.Const)
	case len(s.Enum) > 0:
		return joined(s.Enum, literal)
	case len(s.OneOf) > 0:
		return joined(s.OneOf, func(of *schema) string { return of.typescript(indent) })
	case len(s.AnyOf) > 0:
		return joined(s.AnyOf, func(of *schema) string { return of.typescript(indent) })
	}
	if several, ok := s.Type.([]any); ok {
		return joined(several, func(kind any) string {
			of := *s
			of.Type = kind
			return of.typescript(indent)
		})
	}
	switch s.Type {
	case "string", "boolean", "null":
		return fmt.Sprint(s.Type)
	case "integer", "number":
		return "number"
	case "array":
		return "Array<" + s.Items.typescript(indent) + ">"
	case "object":
		return s.object(indent)
	}
	return "unknown"
}

func (s *schema) object(indent string) string {
	if len(s.Properties) == 0 {
		var values *schema
		if json.Unmarshal(s.Additional, &values) != nil || values == nil {
			return "Record<string, unknown>"
		}
		return "Record<string, " + values.typescript(indent) + ">"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range sortedKeys(s.Properties) {
		key, missing := name, "?"
		if !plainKey.MatchString(name) {
			key = "'" + name + "'"
		}
		if slices.Contains(s.Required, name) {
			missing = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s\n", indent, key, missing, s.Properties[name].typescript(indent+"  "))
	}
	return b.String() + indent + "}"
}

func literal(v any) string {
	text, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	return "'" + text + "'"
}

// joined is a union, each of its types once.
func joined[T any](all []T, write func(T) string) string {
	var parts []string
	for _, v := range all {
		if part := write(v); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " | ")
}

func typeName(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
