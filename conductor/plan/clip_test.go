package plan

import (
	"strings"
	"testing"
	"unicode"
)

// TestClip: the words of a BMC or an agent on its failure are readable on one line.
func TestClip(t *testing.T) {
	for reason, want := range map[string]string{
		"the BMC said: \x1b[31mno\x00\nnever\u202e": "the BMC said: [31mno never",
		"GET http://u:secret@h/i: 404":              "GET http://******@h/i: 404",
	} {
		if got := Clip(reason); got != want {
			t.Errorf("%q became %q, want %q", reason, got, want)
		}
	}
	if got := Clip(strings.Repeat("\x1bé", 5000)); len(got) > maxReason+20 ||
		strings.ContainsFunc(got, unicode.IsControl) {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
}
