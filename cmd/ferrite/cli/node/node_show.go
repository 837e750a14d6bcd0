package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
)

func nodeShow(s *client.Session) *cobra.Command {
	var names string
	cmd := &cobra.Command{
		Use:   "show NODE...",
		Short: "Show machines: state, addresses, disks, and the next command",
		Long: `Show the important facts about machines: the state, the last error and the next command, then the BMC,
the addresses, the disks and the settings. -o wide shows every field of the record, also
those that are empty.`,
		Example: `  ferrite node show m1
  ferrite node show m1 -o wide
  ferrite node show m1 -o jsonpath='{.driver_info.redfish_address}'
  ferrite node show -l state=error,name=web-*`,
		RunE: func(cmd *cobra.Command, args []string) error {
			query := ""
			if names != "" {
				query = "?fields=" + url.QueryEscape(names)
			}
			var replies []json.RawMessage
			err := wait.Each(args, func(name string) error {
				reply, err := readRecord(cmd.Context(), s, name, query)
				if err != nil || !s.People() {
					replies = append(replies, reply)
					return err
				}
				if len(replies) > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				replies = append(replies, reply)
				if names != "" {
					return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Named(reply, strings.Split(names, ",")))
				}
				m, err := readMachine(cmd.Context(), s, reply)
				if err != nil {
					return err
				}
				return output.PrintAny(s, cmd.OutOrStdout(), reply, m.table(s))
			})
			if err != nil || s.People() {
				return err
			}
			return output.PrintSome(s, cmd, len(args), replies)
		},
	}
	cmd.Flags().StringVar(&names, "fields", "", "fields to show, separated by commas")
	return cmd
}

// readRecord reads the record of a node. The links that the API always adds are left out where fields are named.
func readRecord(ctx context.Context, s *client.Session, name, query string) (reply json.RawMessage, err error) {
	err = s.Client.Do(ctx, "GET", client.NodePath(name)+query, nil, &reply)
	if values, _ := url.ParseQuery(strings.TrimPrefix(query, "?")); err != nil || query == "" ||
		slices.Contains(strings.Split(values.Get("fields"), ","), "links") {
		return reply, err
	}
	return withoutLinks(reply)
}

// withoutLinks is a record, or a list of them, without the field links.
func withoutLinks(reply json.RawMessage) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(reply, &object); err != nil {
		return nil, fmt.Errorf("the conductor's answer: %w", err)
	}
	delete(object, "links")
	return json.Marshal(object)
}
