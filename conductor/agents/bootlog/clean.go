package bootlog

import (
	"strings"
	"unicode"
)

// maxLine cuts a line of a machine that never ends one, in bytes.
const maxLine = 8 << 10

// clean makes any text one printable line. Control text (escape sequences, carriage returns,
// marks of writing direction) is replaced, not removed, so that the attempt stays visible.
func clean(line string) string {
	if len(line) > maxLine {
		line = line[:maxLine] + " (cut)"
	}
	return strings.Map(func(r rune) rune { // invalid UTF-8 comes as U+FFFD
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, line)
}
