package output

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Grid is the columns that a server has made of documents, as kubectl shows them:
// plain, so that rows can follow as they come.
type Grid struct {
	Wide       bool // all columns, not only the important
	Namespaces bool // the namespace before them
	Columns    int  // of the terminal, at which lines are cut; 0 for any
	widths     []int
	begun      bool
}

// GridColumn is a column of a meta.k8s.io/v1 Table.
type GridColumn struct {
	Name     string `json:"name"`
	Priority int    `json:"priority"` // 0: important
}

// GridRow is a row of it, with the document it is of.
type GridRow struct {
	Cells  []any `json:"cells"`
	Object struct {
		Metadata hostapi.ObjectMeta `json:"metadata"`
	} `json:"object"`
}

// Show writes rows, with the names of the columns before the first.
func (g *Grid) Show(w io.Writer, columns []GridColumn, rows []GridRow) error {
	var lines [][]string
	if !g.begun {
		lines = append(lines, g.header(columns))
	}
	g.begun = true
	for _, r := range rows {
		lines = append(lines, g.row(columns, r))
	}
	for _, l := range lines {
		for i, text := range l {
			if i == len(g.widths) {
				g.widths = append(g.widths, 0)
			}
			g.widths[i] = max(g.widths[i], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		var line strings.Builder
		for i, text := range l {
			fmt.Fprintf(&line, "%-*s   ", g.widths[i], text)
		}
		b.WriteString(cut(strings.TrimRight(line.String(), " "), g.Columns) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cut ends a line at a number of columns; 0 for any.
func cut(line string, columns int) string {
	letters := []rune(line)
	if columns <= 3 || len(letters) <= columns {
		return line
	}
	return string(letters[:columns-3]) + "..."
}

func (g *Grid) header(columns []GridColumn) (names []string) {
	if g.Namespaces {
		names = append(names, "NAMESPACE")
	}
	for _, c := range columns {
		if g.Wide || c.Priority == 0 {
			names = append(names, strings.ToUpper(c.Name))
		}
	}
	return names
}

func (g *Grid) row(columns []GridColumn, r GridRow) (cells []string) {
	if g.Namespaces {
		cells = append(cells, VisibleLine(r.Object.Metadata.Namespace))
	}
	for i, c := range columns {
		if i < len(r.Cells) && (g.Wide || c.Priority == 0) {
			cells = append(cells, VisibleLine(Cell(r.Cells[i])))
		}
	}
	return cells
}
