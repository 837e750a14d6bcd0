package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// CompleteNodes offers the names of nodes to a shell's completion.
func CompleteNodes(s *client.Session) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		if err := s.Open(cmd.InOrStdin()); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var list nodeapi.NodeList
		if err := s.Client.Do(cmd.Context(), "GET", nodeapi.Root+"/nodes?fields=uuid,name", nil, &list); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := make([]string, len(list.Nodes))
		for i, n := range list.Nodes {
			names[i] = n.Label()
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// GetNode reads some fields of a node.
func GetNode(ctx context.Context, s *client.Session, node, fields string) (n nodeapi.Node, err error) {
	err = s.Client.Do(ctx, "GET", client.NodePath(node)+"?fields="+url.QueryEscape(fields), nil, &n)
	return n, err
}

// SendPatch changes an object and prints it.
func SendPatch(s *client.Session, cmd *cobra.Command, path string, ops []nodeapi.Patch) error {
	if len(ops) == 0 {
		return errors.New("nothing to change: name at least one field, see --help")
	}
	var reply json.RawMessage
	if err := s.Client.Do(cmd.Context(), "PATCH", path, ops, &reply); err != nil {
		return err
	}
	return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Fields(reply))
}
