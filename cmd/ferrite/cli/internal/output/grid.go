package output

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
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

// Growing is a list that prints rows as they arrive.
type Growing struct {
	session *client.Session
	w       io.Writer
	columns []Column
	grid    Grid
}

// NewGrowing begins a list. Columns for -o wide alone are left out without it.
func NewGrowing(s *client.Session, w io.Writer, columns []Column) *Growing {
	shown := slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return c.Wide && !s.Wide() })
	g := &Growing{session: s, w: w, columns: shown}
	if !s.Wide() { // lines that follow each other are not wrapped
		g.grid.Columns = ScreenOf(w).Columns
	}
	return g
}

// Show adds rows.
func (g *Growing) Show(items []json.RawMessage) error {
	if !g.session.People() {
		for _, item := range items {
			if err := PrintAny(g.session, g.w, item, nil); err != nil {
				return err
			}
		}
		return nil
	}
	heads, rows := make([]GridColumn, len(g.columns)), make([]GridRow, len(items))
	for i, c := range g.columns {
		heads[i].Name = c.head()
	}
	for k, item := range items {
		var object map[string]any
		if err := json.Unmarshal(item, &object); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		for _, c := range g.columns {
			rows[k].Cells = append(rows[k].Cells, c.text(object))
		}
	}
	return g.grid.Show(g.w, heads, rows)
}
