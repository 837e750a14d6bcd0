package inventory

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const conductorHelp = `The conductors that share a database. One of them leads each conductor group, and the
others forward to it. See docs/operate/several-conductors.md.`

// ConductorCommand is ferrite conductor.
func ConductorCommand(s *client.Session) *cobra.Command {
	return client.Group("conductor", "Conductors that share a database, and which of them leads", conductorHelp,
		conductorList(s),
		conductorDrain(s, true, "drain CONDUCTOR...", "Have a conductor lead no longer: another one takes over in order",
			"drained %s\n"),
		conductorDrain(s, false, "undrain CONDUCTOR...", "Let a drained conductor lead again", "undrained %s\n"))
}

func conductorList(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the conductors", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var reply struct {
				Conductors json.RawMessage `json:"conductors"`
			}
			if err := s.Client.Do(cmd.Context(), "GET", nodeapi.ConductorsPath, nil, &reply); err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply.Conductors, output.RowsOf(s, reply.Conductors,
				output.Columns("name", "group", "leader", "alive", "drained", "seen_at")))
		},
	}
}

func conductorDrain(s *client.Session, drained bool, use, short, done string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wait.Each(args, func(name string) error {
				path := nodeapi.ConductorsPath + "/" + url.PathEscape(name) + "/drained"
				body := nodeapi.DrainedConductor{Drained: drained}
				if err := s.Client.Do(cmd.Context(), "PUT", path, body, nil); err != nil {
					return err
				}
				return output.Say(s, cmd, done, name)
			})
		},
	}
}
