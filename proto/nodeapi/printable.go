package nodeapi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes text of a stranger, a BMC or an agent safe to show on one line. White space of any kind becomes a
// space. Control characters of terminals, and characters that reverse the direction of text (Unicode UAX #9), are left
// out.
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

// kept maps a character, to -1 for none.
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
