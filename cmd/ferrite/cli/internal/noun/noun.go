// Package noun makes commands from tables: a noun is a kind of record, a verb of it is one request to the conductor.
package noun

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// Noun is a kind of record. Its records are found by UUID, or by name where they have one.
type Noun struct {
	Use, Short, Long string
	Name             string          // in sentences; Use when empty
	Arg              string          // a record in usage lines: TEMPLATE
	Path             string          // of all records; the path of the noun above when empty
	Columns          []output.Column // of its list
	Fields           []Field         // flags of Create and Set
	Verbs            []Verb
	Below            []Noun
	Own              []func(*client.Session) *cobra.Command // commands with code of their own
	Lacks            string                                 // of a server without these records: "has no leases"
	// Refused words the error of a change; nil: as the noun above does. ref is the first argument of the command.
	Refused func(ctx context.Context, s *client.Session, cmd *cobra.Command, ref string, err error) error
}

// Command is a noun with the commands below it.
func (n Noun) Command(s *client.Session) *cobra.Command {
	return client.Group(n.Use, n.Short, n.Long, n.Commands(s)...)
}

// Commands are the commands below a noun.
func (n Noun) Commands(s *client.Session) (all []*cobra.Command) {
	for _, v := range n.Verbs {
		all = append(all, call{s, n, v, nil}.command())
	}
	for _, below := range n.Below {
		below.Path = cmp.Or(below.Path, n.Path)
		if below.Refused == nil {
			below.Refused = n.Refused
		}
		all = append(all, below.Command(s))
	}
	for _, own := range n.Own {
		all = append(all, own(s))
	}
	return all
}

// Named are the columns of records that have a name: it, or the UUID of a record without, and these fields.
func Named(fields ...string) []output.Column {
	return append(append([]output.Column{output.Label()}, output.Columns(fields...)...),
		output.Column{Field: "uuid", Wide: true})
}
