package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\nof two lines, größer, 日本": "plain\ttext\nof two lines, größer, 日本",
		"\x1b[2J\x1b]0;title\a":                 `\x1b[2J\x1b]0;title\a`,
		"over\rwritten\b":                       `over\rwritten\b`,
		"C1 \u009b1m and DEL \x7f":              `C1 \u009b1m and DEL \x7f`,
		"a raw \x9b byte":                       "a raw \ufffd byte",
		"gpj.\u202eexe":                         `gpj.\u202eexe`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, expected %q", in, got, want)
		}
	}
}

// TestPrintObeysNoMachine: no text of a machine commands the terminal, in any form of output, and JSON and YAML keep
// its meaning.
func TestPrintObeysNoMachine(t *testing.T) {
	const switchName = "sw1\x1b[31m\r\u009b5n\x7f\u202e\n\u2028"
	said := map[string]any{"name": switchName, "sys\x1bname": "sw1"}
	reply, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal([]any{said})
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]func([]byte, any) error{
		"json": json.Unmarshal, "yaml": func(b []byte, into any) error { return yaml.Unmarshal(b, into) },
	}
	for _, form := range []string{"table", "json", "yaml"} {
		s := &client.Session{Output: form}
		var out, rows bytes.Buffer
		if err := PrintAny(s, &out, reply, Fields(s, reply)); err != nil {
			t.Fatal(err)
		}
		if err := PrintAny(s, &rows, list, RowsOf(s, list, Columns("name"))); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{out.String(), rows.String()} {
			obeyed := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || !unicode.IsPrint(r)) }
			if at := strings.IndexFunc(text, obeyed); at >= 0 {
				t.Errorf("%s: %q at %d of %q", form, text[at], at, text)
			}
			if !strings.Contains(text, "sw1") {
				t.Errorf("%s: %q", form, text)
			}
		}
		if form == "table" {
			continue
		}
		var again map[string]any
		if err := read[form](out.Bytes(), &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(said, again); diff != "" {
			t.Errorf("%s: %s", form, diff)
		}
	}
}

// TestPrintReadsAnyEscape: Ironic writes characters beyond 16 bits as two halves, which are one character in every form
// of output; numbers stay as they came.
func TestPrintReadsAnyEscape(t *testing.T) {
	reply := json.RawMessage(`{"description":"\ud83d\ude00 \u00e9","size":9007199254740993}`)
	for _, form := range []string{"table", "json", "yaml"} {
		s := &client.Session{Output: form}
		var out bytes.Buffer
		if err := PrintAny(s, &out, reply, Fields(s, reply)); err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		said := out.String()
		if form == "yaml" { // which may write it as \U and eight digits
			var v map[string]any
			if err := yaml.Unmarshal(out.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			said += v["description"].(string)
		}
		if !strings.Contains(said, "😀 é") || form != "table" && !strings.Contains(said, "9007199254740993") {
			t.Errorf("%s: %s", form, out.String())
		}
	}
}
