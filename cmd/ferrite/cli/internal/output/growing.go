package output

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

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
