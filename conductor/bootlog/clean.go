package bootlog

import (
	"strings"
	"unicode"
)

// maxLine cuts a line of a machine that never ends one, in bytes.
const maxLine = 8 << 10

// clean makes any text one printable line. What a terminal would obey (escape
// sequences, carriage returns, marks that turn the direction of writing) is
// replaced, not removed: that somebody tried stays visible.
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
