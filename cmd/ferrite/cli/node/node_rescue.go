package node

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/secret"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeRescue(s *client.Session) *cobra.Command {
	var file string
	var waiting wait.Flag
	cmd := &cobra.Command{
		Use:   "rescue NODE... [--password-file FILE]",
		Short: "Boot a machine into a rescue ramdisk with a login",
		Long: `Boot a machine into a ramdisk that user rescue can log in to over SSH. The disks are not
touched. The password is asked for, or read from a file (- is standard input). The conductor
keeps only a hash of it, until the ramdisk has it.

The machine must be active. The rescue ends with: ferrite node unrescue NODE`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := readPassword(cmd, file)
			if err != nil {
				return err
			}
			goal := wait.ProvisionGoal("rescue")
			goal.Then = func(node string, say func(string)) { say(rescueLogin(cmd.Context(), s, node)) }
			return requestVerb(s, cmd, args, goal, waiting,
				nodeapi.Provision{Target: "rescue", RescuePassword: password})
		},
	}
	cmd.Flags().StringVar(&file, "password-file", "", "`file` whose first line is the password; - is standard input")
	waiting.Add(cmd)
	caution.Care{}.Add(s, cmd)
	return cmd
}

// readPassword asks for a password on the terminal, or takes the first line of
// a file. On the command line it would be everybody's to see.
func readPassword(cmd *cobra.Command, file string) (string, error) {
	switch {
	case file == "" && term.IsTerminal(int(os.Stdin.Fd())):
		fmt.Fprint(cmd.ErrOrStderr(), "Password for user rescue: ")
		typed, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		return string(typed), err
	case file == "":
		return "", errors.New("there is no terminal to ask for the password: use --password-file")
	}
	return secret.FirstLine(cmd.InOrStdin(), "--password-file", file)
}
