package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// grid is the columns that a server has made of documents, as kubectl shows them:
// plain, so that rows can follow as they come.
type grid struct {
	wide       bool // all columns, not only the important
	namespaces bool // the namespace before them
	widths     []int
	begun      bool
}

// gridColumn is a column of a meta.k8s.io/v1 Table.
type gridColumn struct {
	Name     string `json:"name"`
	Priority int    `json:"priority"` // 0: important
}

// gridRow is a row of it, with the document it is of.
type gridRow struct {
	Cells  []any `json:"cells"`
	Object struct {
		Metadata hostapi.ObjectMeta `json:"metadata"`
	} `json:"object"`
}

// show writes rows, with the names of the columns before the first.
func (g *grid) show(w io.Writer, columns []gridColumn, rows []gridRow) error {
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
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (g *grid) header(columns []gridColumn) (names []string) {
	if g.namespaces {
		names = append(names, "NAMESPACE")
	}
	for _, c := range columns {
		if g.wide || c.Priority == 0 {
			names = append(names, strings.ToUpper(c.Name))
		}
	}
	return names
}

func (g *grid) row(columns []gridColumn, r gridRow) (cells []string) {
	if g.namespaces {
		cells = append(cells, r.Object.Metadata.Namespace)
	}
	for i, c := range columns {
		if i < len(r.Cells) && (g.wide || c.Priority == 0) {
			cells = append(cells, cell(r.Cells[i]))
		}
	}
	return cells
}
