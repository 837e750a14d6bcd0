package output

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Visible makes text safe for a terminal. Much of the text shown comes from a machine, a BMC or a switch. Characters
// that a terminal would obey (escape sequences, carriage returns, marks of the writing direction) are shown as escapes
// of Go and JSON. They can be seen then, and have no effect. Lines and tabs stay.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s { // invalid UTF-8 comes as U+FFFD
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// VisibleLine is Visible for text that must stay on one line, such as a name or a log entry: text from elsewhere cannot
// begin a line that looks like ours.
func VisibleLine(s string) string { return lineEnds.Replace(Visible(s)) }

var lineEnds = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// VisibleJSON is a line of JSON as it came, fit for a terminal.
func VisibleJSON(line []byte) string { return visibleJSON(string(line)) }

// visibleJSON makes a document of JSON safe for a terminal without changing its meaning. It escapes DEL and the control
// characters beyond ASCII, which JSON leaves as they are. Such characters occur in strings only. Characters beyond 16
// bits stay: JSON would write them in two halves, which a YAML parser refuses, and a terminal obeys none of them.
func visibleJSON(document string) string {
	const most = 0xffff
	var b strings.Builder
	for _, r := range document {
		if r == '\n' || unicode.IsPrint(r) || r > most {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}
