// Package nodes reads and changes nodes for several commands.
package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// GetNode reads some fields of a node.
func GetNode(ctx context.Context, s *client.Session, node, fields string) (n nodeapi.Node, err error) {
	err = s.Client.Do(ctx, "GET", client.NodePath(node)+"?fields="+url.QueryEscape(fields), nil, &n)
	return n, err
}

// PatchEach changes nodes, and prints them for programs. People get a line for each.
func PatchEach(s *client.Session, cmd *cobra.Command, names []string, query string, ops []nodeapi.Patch) error {
	if len(ops) == 0 {
		return ErrNothing
	}
	var replies []json.RawMessage
	err := wait.Each(names, func(name string) error {
		var reply json.RawMessage
		err := wait.Unlocked(cmd.Context(), name, func(ctx context.Context, name string) error {
			return s.Client.Do(ctx, "PATCH", client.NodePath(name)+query, ops, &reply)
		})
		if err != nil {
			return err
		}
		replies = append(replies, reply)
		if !s.People() {
			return nil
		}
		return output.Say(s, cmd, "%s: changed %s\n", name, strings.Join(fieldsOf(ops), ", "))
	})
	if s.People() {
		return err
	}
	return errors.Join(err, output.PrintSome(s, cmd, len(names), replies))
}

// ErrNothing is a change of nothing.
var ErrNothing = exit.Usage(errors.New("nothing to change: name at least one field, see --help"))

// fieldsOf are the fields that are changed, in words that flags have.
func fieldsOf(ops []nodeapi.Patch) (fields []string) {
	for _, op := range ops {
		field := unescape.Replace(strings.TrimPrefix(op.Path, "/"))
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	return fields
}

// unescape makes a field with its key of a JSON pointer (RFC 6901).
var unescape = strings.NewReplacer("/", ".", "~1", "/", "~0", "~")
