package inventory

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ShardCommand is ferrite shard.
func ShardCommand(s *client.Session) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the shards, with their numbers of machines", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var reply struct{ Shards json.RawMessage }
			if err := s.Client.Do(cmd.Context(), "GET", nodeapi.Root+"/shards", nil, &reply); err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply.Shards,
				output.RowsOf(s, reply.Shards, output.Columns("name", "count")))
		},
	}
	return client.Group("shard", "Shards: parts of the machines for services that share them",
		"Shards. ferrite node set NODE --shard SHARD puts a machine into one.", list)
}
