package noun

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// Traits are the traits of a noun's records. arg is a record in usage lines, path the path of all records.
func Traits(of, arg, path string) Noun {
	n := Noun{
		Use: "trait", Short: "Traits of a " + of, Name: of, Arg: arg, Path: path, Columns: output.Columns("trait"),
		Long: "Traits of a " + of + `. A trait is CUSTOM_ and a word in capitals, or a standard name like
HW_CPU_X86_VMX.`,
		Verbs: []Verb{
			{Use: "list {arg}", Short: "List the traits of a {noun}", Path: "/{0}/traits", Key: "traits"},
			{Use: "add {arg} TRAIT...", Short: "Add traits to a {noun}", Method: http.MethodPut, Path: "/{0}/traits/{1}",
				Done: "{0} has trait {1}"},
		},
	}
	n.Own = append(n.Own, n.removeTraits)
	return n
}

// removeTraits is one request for each trait, or one for all.
func (n Noun) removeTraits(s *client.Session) *cobra.Command {
	some := call{s, n, Verb{Use: "remove {arg} {TRAIT... | --all}", Short: "Remove traits from a {noun}",
		Method: http.MethodDelete, Path: "/{0}/traits/{1}", Done: "{0} no longer has trait {1}"}, nil}.command()
	every := call{s, n, Verb{Method: http.MethodDelete, Path: "/{0}/traits", Done: "{0} has no traits"}, nil}.command()
	all := some.Flags().Bool("all", false, "remove all traits")
	some.Args = cobra.MinimumNArgs(1)
	remove := some.RunE
	some.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case *all == (len(args) > 1):
			return errors.New("name the traits to remove, or give --all")
		case *all:
			return every.RunE(cmd, args)
		}
		return remove(cmd, args)
	}
	return some
}
