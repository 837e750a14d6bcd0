package cli

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
)

// visible makes text fit for a terminal. Much of what is shown was said by a
// machine, a BMC or a switch: what a terminal would obey (escape sequences,
// carriage returns, marks that turn the direction of writing) is shown as Go and
// JSON write it, so that it is seen and does nothing. Lines and tabs stay.
func visible(s string) string {
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

// visibleJSON is a document of JSON that is fit for a terminal and says the same:
// what JSON leaves as it is, DEL and the control characters beyond ASCII, is
// escaped. Such characters stand in its strings only.
func visibleJSON(document string) string {
	var b strings.Builder
	for _, r := range document {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		const most = 0xffff
		if r > most { // JSON has no other form for it; such are marks without effect
			b.WriteRune(r)
			continue
		}
		b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
	}
	return b.String()
}

// visibleTable is a table whose cells are fit for a terminal.
type visibleTable struct{ table.Writer }

// AppendRow adds a row.
func (t visibleTable) AppendRow(row table.Row, config ...table.RowConfig) {
	for i, cell := range row {
		if s, ok := cell.(string); ok {
			row[i] = visible(s)
		}
	}
	t.Writer.AppendRow(row, config...)
}
