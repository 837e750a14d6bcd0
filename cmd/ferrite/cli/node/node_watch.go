package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/follow"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeWatch(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "watch [NODE]",
		Short: "Show the events of a node, or of all, from now on",
		Long: `Show a line for each change of a node, each stage of its boot, and the progress of its steps, from
now on. Ctrl-C ends it. For what has happened before: ferrite events --node NODE.`,
		Example: "  ferrite node watch web-1\n  ferrite node watch -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.Output == "yaml" {
				return errors.New("--output yaml: expected table or json, which come line by line")
			}
			q := nodeapi.EventQuery{Follow: true, Types: []string{"node", "boot", "step"}}
			if len(args) > 0 {
				q.Node = args[0]
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			if err := follow.Events(ctx, s, cmd.OutOrStdout(), q); !follow.Stopped(err) {
				return err
			}
			return nil
		},
	}
}

// listEvery is the time between two readings of a list that is watched.
const listEvery = 2 * time.Second

// watchNodes lists nodes, and then each that changes, until the command is interrupted. A conductor that restarts is
// waited for.
func watchNodes(s *client.Session, cmd *cobra.Command, o listOptions) error {
	columns := output.Columns(strings.Split(o.fields, ",")...)
	if o.fields == "" {
		columns = nodeColumns(cmd.Context(), s)
	}
	list := output.NewGrowing(s, cmd.OutOrStdout(), columns)
	seen, lost := map[string]string{}, false
	for {
		all, err := o.read(cmd.Context(), s, o.query(s))
		switch {
		case cmd.Context().Err() != nil:
			return nil
		case client.Passing(err) && len(seen) > 0:
			if !lost {
				fmt.Fprintf(cmd.ErrOrStderr(), "ferrite: %s; waiting for it\n", strings.SplitN(err.Error(), "\n", 2)[0])
			}
			lost = true
		case err != nil:
			return err
		default:
			lost = false
			if err := showNew(list, seen, all); err != nil {
				return err
			}
		}
		_ = wait.Pause(cmd.Context(), listEvery) // the next reading sees its end
	}
}

// showNew shows the nodes that are not as they were seen last.
func showNew(list *output.Growing, seen map[string]string, all []json.RawMessage) error {
	var changed []json.RawMessage
	gone := map[string]bool{}
	for key := range seen {
		gone[key] = true
	}
	for _, raw := range all {
		var n struct{ UUID, Name string }
		if err := json.Unmarshal(raw, &n); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		key := n.UUID + n.Name
		delete(gone, key)
		if seen[key] != string(raw) {
			seen[key] = string(raw)
			changed = append(changed, raw)
		}
	}
	for key := range gone { // a node of that name may come again
		delete(seen, key)
	}
	return list.Show(changed)
}
