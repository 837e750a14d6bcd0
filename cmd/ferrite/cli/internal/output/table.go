package output

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// gap is the room between two columns.
const gap = "   "

// plain is the style of all tables, the same as kubectl's. Other programs can cut the lines into fields. A word is
// never broken, so that addresses and sums can be copied.
func plain() table.Style {
	return table.Style{
		Name:    "plain",
		Box:     table.BoxStyle{PaddingRight: gap},
		Options: table.OptionsNoBordersAndSeparators,
		Format:  table.FormatOptions{Header: text.FormatUpper, Row: text.FormatDefault},
	}
}

// Table is an answer as people read it. Its cells are made fit for a terminal as they come, and it fits the screen.
type Table struct {
	head   []string
	rows   [][]string
	sparse bool  // columns without any text are left out
	err    error // of the answer
}

// NewTable begins a table. Without names of columns, its rows are names and values.
func NewTable(head ...string) *Table { return &Table{head: visible(head...)} }

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, visible(cells...)) }

// Pair adds a name and its text, unless the text is empty.
func (t *Table) Pair(name, text string) {
	if text != "" {
		t.Row(name, text)
	}
}

func visible(cells ...string) []string {
	all := make([]string, len(cells))
	for i, cell := range cells {
		text := strings.TrimRight(cell, "\n")
		if i == 0 { // further lines of it would look like rows
			all[i] = VisibleLine(text)
		} else {
			all[i] = Visible(text)
		}
	}
	return all
}

// render draws the table for a screen of so many columns; 0 for any.
func (t *Table) render(screen Screen) string {
	if t.sparse {
		t.dropEmpty()
	}
	configs := make([]table.ColumnConfig, t.columns())
	for i, width := range t.widths(screen.Columns) {
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMax: width, WidthMaxEnforcer: wrapWords}
	}
	w := table.NewWriter()
	w.SetStyle(plain())
	w.SuppressTrailingSpaces()
	w.SetColumnConfigs(configs)
	if len(t.head) > 0 {
		head := make(table.Row, len(t.head))
		for i, name := range t.head {
			head[i] = strings.ReplaceAll(name, "_", " ")
		}
		w.AppendHeader(head)
	}
	for _, r := range t.rows {
		row := make(table.Row, len(r))
		for i, cell := range r {
			row[i] = screen.coloured(t.nameOf(r, i), cell)
		}
		w.AppendRow(row)
	}
	return w.Render()
}

// nameOf names a cell: by its column, or by the first cell of its row in a table without a head.
func (t *Table) nameOf(row []string, column int) string {
	switch {
	case len(t.head) > column:
		return t.head[column]
	case len(t.head) == 0 && column == 1:
		return row[0]
	}
	return ""
}

func (t *Table) columns() int {
	n := len(t.head)
	for _, r := range t.rows {
		n = max(n, len(r))
	}
	return n
}

// dropEmpty leaves out the columns that no row has a text in.
func (t *Table) dropEmpty() {
	if len(t.rows) == 0 {
		return
	}
	for i := len(t.head) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.rows, func(r []string) bool { return i < len(r) && r[i] != "" }) {
			continue
		}
		t.head = slices.Delete(t.head, i, i+1)
		for k, r := range t.rows {
			t.rows[k] = slices.Delete(r, i, i+1)
		}
	}
}

// widths are the columns' widths on a screen. The widest are narrowed first, down to their longest word: a table of
// long words is wider than the screen.
func (t *Table) widths(screen int) []int {
	natural, least := make([]int, t.columns()), make([]int, t.columns())
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i, cell := range r {
			natural[i] = max(natural[i], text.LongestLineLen(cell))
			for word := range strings.FieldsSeq(cell) {
				least[i] = max(least[i], text.StringWidthWithoutEscSequences(word))
			}
		}
	}
	for i, name := range t.head { // a head is not wrapped
		least[i] = max(least[i], text.StringWidthWithoutEscSequences(name))
	}
	// A word of the last column may be longer than its lines: nothing comes after it.
	if k := len(least) - 1; k >= 0 {
		least[k] = min(least[k], max(leastLast, headWidth(t.head, k)))
	}
	room := screen - len(gap)*max(0, len(natural)-1)
	if len(t.head) > 0 && sum(least) > room { // narrowing a list would not make it fit
		return natural
	}
	return narrowed(natural, least, room)
}

// leastLast is the width that the last column keeps for sentences.
const leastLast = 30

func headWidth(head []string, column int) int {
	if column >= len(head) {
		return 0
	}
	return text.StringWidthWithoutEscSequences(head[column])
}

func sum(all []int) (total int) {
	for _, n := range all {
		total += n
	}
	return total
}

// narrowed takes from the widest columns until all fit; room below 1 is any.
func narrowed(widths, least []int, room int) []int {
	for total := sum(widths); room > 0 && total > room; total-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// wrapWords breaks lines between words. A word that is longer than a line stays whole.
func wrapWords(s string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if text.StringWidthWithoutEscSequences(line) <= width {
			lines = append(lines, line)
			continue
		}
		var b strings.Builder
		used := 0
		for word := range strings.FieldsSeq(line) {
			size := text.StringWidthWithoutEscSequences(word)
			if used > 0 && used+1+size > width {
				b.WriteByte('\n')
				used = 0
			} else if used > 0 {
				b.WriteByte(' ')
				used++
			}
			b.WriteString(word)
			used += size
		}
		lines = append(lines, b.String())
	}
	return strings.Join(lines, "\n")
}
