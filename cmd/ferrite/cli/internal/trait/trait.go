package trait

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
)

// traits is the traits of machines or of runbooks.
type traits struct {
	session *client.Session
	noun    string // node
	arg     string // NODE
	path    func(ref string, parts ...string) string
}

// Command is the command trait of a noun.
func Command(s *client.Session, noun, arg string, path func(string, ...string) string) *cobra.Command {
	t := traits{s, noun, arg, path}
	return client.Group("trait", "Traits of a "+noun,
		"Traits of a "+noun+`. A trait is CUSTOM_ and a word in capitals, or a standard name like
HW_CPU_X86_VMX.`, t.list(), t.add(), t.remove())
}

func (t traits) list() *cobra.Command {
	return &cobra.Command{
		Use:   "list " + t.arg,
		Short: "List the traits of a " + t.noun,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var reply struct {
				Traits json.RawMessage `json:"traits"`
			}
			if err := t.session.Client.Do(cmd.Context(), "GET", t.path(args[0], "traits"), nil, &reply); err != nil {
				return err
			}
			return output.PrintAny(t.session, cmd.OutOrStdout(), reply.Traits, func(w table.Writer) error {
				var names []string
				if err := json.Unmarshal(reply.Traits, &names); err != nil {
					return fmt.Errorf("the conductor's answer: %w", err)
				}
				w.AppendHeader(table.Row{"trait"})
				for _, name := range names {
					w.AppendRow(table.Row{name})
				}
				return nil
			})
		},
	}
}

func (t traits) add() *cobra.Command {
	return &cobra.Command{
		Use:   "add " + t.arg + " TRAIT...",
		Short: "Add traits to a " + t.noun,
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.each(cmd, "PUT", args[0], args[1:], "%s has trait %s\n")
		},
	}
}

func (t traits) remove() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "remove " + t.arg + " {TRAIT... | --all}",
		Short: "Remove traits from a " + t.noun,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all == (len(args) > 1):
				return errors.New("name the traits to remove, or give --all")
			case !all:
				return t.each(cmd, "DELETE", args[0], args[1:], "%s no longer has trait %s\n")
			}
			if err := wait.Do(cmd.Context(), t.session, "DELETE", t.path(args[0], "traits"), nil, nil); err != nil {
				return err
			}
			return output.Say(t.session, cmd, "%s has no traits\n", args[0])
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove all traits")
	return cmd
}

// each adds or removes traits one by one, and says so.
func (t traits) each(cmd *cobra.Command, method, ref string, names []string, said string) error {
	return wait.Each(names, func(name string) error {
		path := t.path(ref, "traits", url.PathEscape(name))
		if err := wait.Do(cmd.Context(), t.session, method, path, nil, nil); err != nil {
			return err
		}
		return output.Say(t.session, cmd, said, ref, name)
	})
}
