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
