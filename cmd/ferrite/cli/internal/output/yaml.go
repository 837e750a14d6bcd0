package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

// plainYAML writes a document as YAML. The encoder takes no control characters, and escapes those that come escaped.
// Marks that turn the direction of writing it writes as they are: these come to it between two control characters,
// so that it quotes their text, and become escapes afterwards.
func plainYAML(reply json.RawMessage) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(reply))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	marked, err := json.Marshal(markForms(v))
	if err != nil {
		return nil, err
	}
	doc, err := plainJSON(marked)
	if err != nil {
		return nil, err
	}
	if doc, err = yaml.JSONToYAML(doc); err != nil {
		return nil, fmt.Errorf("as YAML: %w", err)
	}
	return markedForm.ReplaceAll(doc, []byte(`\U$1`)), nil
}

var markedForm = regexp.MustCompile(`\\x01([0-9a-f]{8})\\x02`)

// markForms marks the format characters (Unicode class Cf) of all texts of a document.
func markForms(v any) any {
	switch v := v.(type) {
	case map[string]any:
		all := make(map[string]any, len(v))
		for key, value := range v {
			all[markForm(key)] = markForms(value)
		}
		return all
	case []any:
		for i := range v {
			v[i] = markForms(v[i])
		}
	case string:
		return markForm(v)
	}
	return v
}

func markForm(s string) string {
	if !strings.ContainsFunc(s, isForm) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isForm(r) {
			fmt.Fprintf(&b, "\x01%08x\x02", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isForm(r rune) bool { return unicode.Is(unicode.Cf, r) }
