package noun

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// Paged are the flags of a list: its filters, and a part of it in an order.
func Paged(filters ...Field) []Field {
	return append(filters,
		Field{Name: "limit", Value: 0, Help: "largest number of records; 0 for all"},
		Field{Name: "marker", Help: "UUID of the last record of the previous page"},
		Field{Name: "sort_key", Flag: "sort", Kind: order, Help: "FIELD or FIELD:desc"},
		Field{Name: "fields", Help: "fields to show, separated by commas"})
}

// order is FIELD or FIELD:desc.
func order(cmd *cobra.Command, f Field) read {
	return f.parsed(cmd, func(_ *cobra.Command, _ *client.Session, g *Given, text string) error {
		key, direction, _ := strings.Cut(text, ":")
		g.Plain[f.Name], g.Plain["sort_dir"] = key, direction
		return nil
	})
}

// limit is the largest number of records; 0 for all.
func (g Given) limit() int {
	limit, _ := g.Plain["limit"].(int)
	return limit
}

// columns are the columns for the fields of a list; nil for the usual ones. The next page begins after a UUID, so the
// list is read with it.
func (g Given) columns() []output.Column {
	text, _ := g.Plain["fields"].(string)
	if text == "" {
		return nil
	}
	fields := strings.Split(text, ",")
	if !slices.Contains(fields, "uuid") {
		g.Plain["fields"] = text + ",uuid"
	}
	return output.Columns(fields...)
}
