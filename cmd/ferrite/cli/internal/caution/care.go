package caution

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// Care is all that comes before a verb acts on the nodes that are its arguments.
type Care struct {
	// Question is the loss that the operator is asked about at a terminal, as a sentence; "" for none. nil: the
	// verb never loses data, and has no --yes.
	Question func(names []string) (string, error)
	// Force is the help text of --force; "" for a verb without.
	Force string
}

// OfHost is the help text of --force of verbs that the node of a host refuses.
const OfHost = "do it even if the machine belongs to a host (BareMetalHost), which then shows an error"

// OfMachine is the help text of --force of commands that name a BMC.
const OfMachine = "take a BMC and system that another node has already"

// Always is the question of a verb that always loses data. NAMES stands for the nodes.
func Always(question string) func([]string) (string, error) {
	return func(names []string) (string, error) { return Question(question, names), nil }
}

// Add adds the flags to a command, and has the care taken before it runs.
func (c Care) Add(s *client.Session, cmd *cobra.Command) {
	var force bool
	var yes Yes
	if c.Force != "" {
		cmd.Flags().BoolVar(&force, "force", false, c.Force)
	}
	if c.Question != nil {
		yes.Add(cmd)
	}
	cmd.PreRunE = func(cmd *cobra.Command, names []string) error {
		if force {
			cmd.SetContext(client.WithForce(cmd.Context()))
		}
		check := CheckNodes
		if c.Question != nil && yes.Asks(cmd) { // no question about a node that does not exist
			check = allThere
		}
		if err := check(cmd.Context(), s, names); err != nil || c.Question == nil {
			return err
		}
		question, err := c.Question(names)
		if err != nil || question == "" {
			return err
		}
		return yes.Ask(cmd, question)
	}
}
