package nodes

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/completion"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
)

// Several gives --selector to a command, and to all below it, that take any number of nodes.
func Several(s *client.Session, cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		Several(s, below)
	}
	if (strings.Contains(cmd.Use, " NODE...") || strings.Contains(cmd.Use, " [NODE...]")) && cmd.RunE != nil {
		bySelector(s, cmd)
	}
}

// bySelector lets the nodes of a command be selected in place of named. All that a command does before it acts sees
// the nodes that are selected.
func bySelector(s *client.Session, cmd *cobra.Command) {
	var selector string
	var selected []string
	cmd.Flags().StringVarP(&selector, "selector", "l", "", SelectorHelp)
	check, before, run := completion.Args(cmd.Use), cmd.PreRunE, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case selector == "":
			return errors.Join(check(cmd, args), aTime(args))
		case len(args) > 0:
			return exit.Usage(fmt.Errorf("nodes are named, or selected by --selector: leave out %s or the flag",
				strings.Join(args, " ")))
		}
		return nil
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) (err error) {
		if selector != "" {
			if selected, err = Select(cmd.Context(), s, selector); err != nil {
				return err
			}
			args = selected
		}
		if before == nil {
			return nil
		}
		return before(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if selector != "" {
			args = selected
		}
		return run(cmd, args)
	}
}

// aTime finds the mistake "--wait 30s", which makes the time an argument and so a node.
func aTime(args []string) error {
	for _, a := range args {
		if _, err := time.ParseDuration(a); err == nil {
			return exit.Usage(fmt.Errorf("%s is a time and no node: write --wait=%s, without a blank", a, a))
		}
	}
	return nil
}
