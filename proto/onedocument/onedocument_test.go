package onedocument_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ferrite-metal/ferrite/proto/onedocument"
)

// TestCheck: a second document is found, and text that only looks like one is not taken for it.
func TestCheck(t *testing.T) {
	for text, one := range map[string]bool{
		"": true, "a: 1\n": true, "---\na: 1\n": true, "# x\n%YAML 1.2\n--- # y\na: 1\n...\n": true,
		"\ufeff---\r\na: 1\r\n": true,
		"a: ---\n":              true, " ---\n": true, "---a: 1\n----: 2\n": true,
		"a: |\n  ---\n  b\n": true, "a: 1\n...\n# x\n\n": true,
		"a: 1\n---\nb: 2\n": false, "a: 1\r\n---\r\nb: 2": false, "---\n---\na: 1\n": false, "--- a\n--- b\n": false,
		"a: 1\n...\nb: 2\n": false, "a: 1\n---": false, "a: |\n  x\n---\tb: 2\n": false, "--- {a: 1}\n---\n": false,
	} {
		if err := onedocument.Check([]byte(text)); (err == nil) != one {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzCheck: beside a YAML parser, no document is missed.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{"a: 1\n---\nb: 2\n", "--- a\n...\n", "%YAML 1.2\n---\na", "a: |\n ---\n...\n#"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var first, second yaml.Node
		d := yaml.NewDecoder(strings.NewReader(text))
		if d.Decode(&first) == nil && d.Decode(&second) == nil && onedocument.Check([]byte(text)) == nil {
			t.Errorf("%q has a second document", text)
		}
	})
}
