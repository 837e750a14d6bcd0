package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nextVerbs are the verbs of a state at rest. The status of a failed or waiting node names its own.
var nextVerbs = map[string]string{
	"enroll":     "manage",
	"manageable": "provide, inspect, clean or adopt",
	"available":  "deploy; or manage, to inspect or clean it",
	"active":     "undeploy, rebuild, rescue or service",
	"rescue":     "unrescue or undeploy",
}

// refused completes a refusal for the node's state: the verb as typed, the node as named, and the next verbs. The
// conductor answers in Ironic's words, which have neither.
func refused(ctx context.Context, s *client.Session, cmd *cobra.Command, node string, err error) error {
	var f *nodeapi.Fault
	if !errors.As(err, &f) || !strings.Contains(f.Text, "can not be performed on node") {
		return err
	}
	err = fmt.Errorf("cannot %s %s: %w", typed(cmd), node, err)
	st, statusErr := wait.ReadStatus(ctx, s, node)
	if statusErr != nil {
		return err // the refusal matters more
	}
	if try := cmp.Or(st.Try, nextVerbs[st.State]); try != "" {
		return fmt.Errorf("%w\n  try: %s", err, try)
	}
	return err
}

// typed is the command below "node" as the operator typed it, such as "power reboot".
func typed(cmd *cobra.Command) string {
	_, verb, _ := strings.Cut(cmd.CommandPath(), " node ")
	return verb
}
