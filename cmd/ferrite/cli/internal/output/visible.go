package output

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Visible makes text fit for a terminal. Much of what is shown was said by a
// machine, a BMC or a switch: what a terminal would obey (escape sequences,
// carriage returns, marks that turn the direction of writing) is shown as Go and
// JSON write it, so that it is seen and does nothing. Lines and tabs stay.
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

// VisibleLine is Visible for what must stay on one line, such as a name or a log entry: no text of others can begin
// a line that looks like one of ours.
func VisibleLine(s string) string { return lineEnds.Replace(Visible(s)) }

var lineEnds = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// VisibleJSON is a line of JSON as it came, fit for a terminal.
func VisibleJSON(line []byte) string { return visibleJSON(string(line)) }

// visibleJSON is a document of JSON that is fit for a terminal and says the same:
// what JSON leaves as it is, DEL and the control characters beyond ASCII, is
// escaped. Such characters stand in its strings only. Those beyond 16 bits stay:
// JSON would write them in two halves, which a reader of YAML refuses, and none of
// them does anything to a terminal.
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
