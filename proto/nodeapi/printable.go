package nodeapi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is text of a stranger, a BMC or an agent, as people may be shown
// it on one line: white space of any kind is a space, and what a terminal obeys or
// what turns the direction of the text round (Unicode UAX #9) is left out.
func Printable(text string) string {
	clean := true
	for _, r := range text {
		clean = clean && r != utf8.RuneError && kept(r) == r
	}
	if clean {
		return text
	}
	return strings.ReplaceAll(strings.Map(kept, strings.ToValidUTF8(text, "")), "\uFFFD", "")
}

// kept is what becomes of a character, -1 for nothing.
func kept(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Cs, r), r == '\uFEFF',
		r >= 0xE0000 && r <= 0xE007F:
		return -1
	}
	return r
}
