// Package signals prints the events that a conductor has for its nodes.
//
// It must not change anything: it is a client that reads.
package signals

import (
	"errors"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/follow"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// EventsCommand is ferrite events.
func EventsCommand(s *client.Session) *cobra.Command {
	q := nodeapi.EventQuery{NoWait: true}
	c := &cobra.Command{
		Use:   "events",
		Short: "Show every change of nodes and records, as it was committed",
		Long: `Show a line for each change: of nodes, ports, allocations, templates and so on. The conductor
keeps the last 100,000 (--events-keep of ferrite serve), also of nodes that are deleted.

With -f it continues with new changes, from now on or from --after. Boot stages and the progress of
steps are shown then, too. Ctrl-C ends it. With -o json each line is one JSON object, whose cursor
--after takes.`,
		Example: `  ferrite events
  ferrite events -f --node web-1
  ferrite events -f --types node.state,node.power -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.Output == "yaml" {
				return errors.New("--output yaml: expected table or json, which come line by line")
			}
			if q.NoWait = !q.Follow; q.NoWait && q.After == "" {
				q.After = "0"
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			err := follow.Events(ctx, s, cmd.OutOrStdout(), q)
			if q.Follow && follow.Stopped(err) {
				return nil
			}
			return err
		},
	}
	c.Flags().StringVar(&q.After, "after", "", "only events after this `cursor`; 0 for the oldest kept one")
	c.Flags().StringVar(&q.Node, "node", "", "only events of this `NODE`")
	c.Flags().StringSliceVar(&q.Types, "types", nil,
		"only events of these `types`, such as node.state, or node for all of nodes")
	c.Flags().BoolVarP(&q.Follow, "follow", "f", false, "continue with new events")
	return c
}
