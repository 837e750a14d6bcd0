package noun

import (
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// Removal is the flag of unset that removes the field, or keys of it.
func (f Field) Removal() Field {
	gone := Field{Name: f.Name, Flag: f.Flag, Kind: remove, Help: "remove its " + f.Name}
	if f.Keys {
		gone.Kind, gone.Help = removeKeys, "KEY of "+f.Name+" to remove; repeat it"
	}
	return gone
}

// removals are the flags of unset for the fields that a record can be without.
func removals(fields []Field) (all []Field) {
	for _, f := range fields {
		if !f.Required && f.Only != http.MethodPost {
			all = append(all, f.Removal())
		}
	}
	return all
}

func remove(cmd *cobra.Command, f Field) read {
	is := cmd.Flags().Bool(f.flag(), false, f.Help)
	return func(_ *cobra.Command, _ *client.Session, g *Given) error {
		if *is {
			g.Removed = append(g.Removed, "/"+f.Name)
		}
		return nil
	}
}

func removeKeys(cmd *cobra.Command, f Field) read {
	keys := cmd.Flags().StringArray(f.flag(), nil, f.Help)
	return func(_ *cobra.Command, _ *client.Session, g *Given) error {
		for _, key := range *keys {
			g.Removed = append(g.Removed, "/"+f.Name+"/"+output.Pointer(key))
		}
		return nil
	}
}
