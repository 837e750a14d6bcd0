package console_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
)

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"a\r\nb\r\n\r\nc":              {"a", "b", "c"},
		"\x1b[31mred\x1b[0m\n":         {"red"},
		"one\x1b[5;1Htwo\x1b[Kthree\n": {"one", "twothree"},
		"ab\b\bcd\n":                   {"cd"},
		"\x1b]0;title\x07text\n":       {"text"},
		"\x1b]0;never ends\ntext\n":    {"text"},
		"\x1b(Bx\x1b=y\x00\x07z\x7f\n": {"xyz"},
		"50%\r100%\r\n":                {"50%", "100%"},
		"\x1b[":                        nil,
		"\x1b":                         nil,
	} {
		if got := console.Lines([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("\x1b[2J\x1b]0;t\x07hello\r\n\x1bPq\x1b\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, line := range console.Lines(text) {
			if line == "" || strings.ContainsAny(line, "\x1b\r\n\x00\x07\b\x7f") {
				t.Errorf("%q", line)
			}
		}
	})
}
