// Package resume is `ferrite server resume`: it shows a restored conductor's plans for its machines, and lets it go on.
package resume

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const help = `A conductor that was restored from a backup starts with effects held: it answers, and reads power
states, but does nothing to any machine. The backup may be out of date: a node that was being cleaned
at that time may run a workload today.

Shows the consequences for each node, and then ends the hold. Nodes that --abandon names do not
continue: their run fails, and nothing more is done to their machines.`

// Command is ferrite server resume.
func Command(s *client.Session) *cobra.Command {
	var (
		dry, all bool
		abandon  []string
		yes      caution.Yes
		config   string
	)
	c := &cobra.Command{
		Use: "resume", Short: "Let a conductor that was restored from a backup act on machines again", Long: help,
		Example: "  ferrite server resume --dry-run\n  ferrite server resume --abandon web-1 --abandon web-2\n" +
			"  ferrite server resume --abandon-all --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.OpenHost(cmd, config); err != nil {
				return err
			}
			hold, raw, err := read(cmd, s)
			if err != nil {
				return err
			}
			if err := output.PrintAny(s, cmd.OutOrStdout(), raw, findings(hold)); err != nil {
				return err
			}
			if fmt.Fprintln(cmd.ErrOrStderr(), about(hold)); dry {
				return nil
			}
			end := nodeapi.HoldEnd{Abandon: abandon}
			if all {
				end.Abandon = working(hold)
			}
			if danger := dangerous(hold, end.Abandon); len(danger) > 0 && !bool(yes) {
				if !yes.Asks(cmd) {
					return fmt.Errorf("data of %s could be lost, and there is no terminal to ask on: --abandon them, or say --yes",
						strings.Join(danger, ", "))
				}
				if err := yes.Ask(cmd, caution.Question("Data of NAMES could be lost.", danger)); err != nil {
					return err
				}
			}
			if err := s.Client.Do(cmd.Context(), http.MethodPut, nodeapi.HoldPath, end, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "resumed; nodes abandoned: %d\n", len(end.Abandon))
			return err
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only show the consequences")
	c.Flags().StringArrayVar(&abandon, "abandon", nil, "a node to be left without its work; repeat it")
	c.Flags().BoolVar(&all, "abandon-all", false, "abandon every node that would go on with something")
	c.MarkFlagsMutuallyExclusive("abandon", "abandon-all")
	yes.Add(c)
	siteconfig.AddFlag(c, &config)
	return c
}

func read(cmd *cobra.Command, s *client.Session) (hold nodeapi.Hold, raw json.RawMessage, err error) {
	raw, hold, err = client.Read[nodeapi.Hold](cmd.Context(), s, nodeapi.HoldPath)
	if err != nil {
		return hold, raw, err
	}
	if !hold.Held {
		return hold, raw, errors.New("this conductor holds nothing: it was not restored from a backup, or was resumed " +
			"already")
	}
	return hold, raw, nil
}

// findings is a row for each node: the meaning of the end of the hold, and how sure it is.
func findings(hold nodeapi.Hold) *output.Table {
	t := output.NewTable("Node", "State", "Power then", "Power now", "Lost?", "What it means")
	for _, n := range hold.Nodes {
		lost := ""
		if n.Dangerous {
			lost = "maybe"
		}
		t.Row(name(n), n.ProvisionState, n.PowerState, n.PowerNow, lost, strings.Join(n.Findings, "\n"))
	}
	return t
}

// about says how much the findings rest on.
func about(hold nodeapi.Hold) string {
	text := fmt.Sprintf("backup of %s; nothing known of other nodes", at(hold.Backup))
	if hold.Unread > 0 {
		text += fmt.Sprintf("; power not read yet: %d nodes, look again in a minute", hold.Unread)
	}
	return text
}

func at(t *time.Time) string {
	if t == nil {
		return "an unknown time"
	}
	return output.Time(*t)
}

func name(n nodeapi.HeldNode) string {
	if n.Name != "" {
		return n.Name
	}
	return n.UUID
}

// working are the nodes that would go on with something.
func working(hold nodeapi.Hold) (uuids []string) {
	for _, n := range hold.Nodes {
		if n.AtWork {
			uuids = append(uuids, n.UUID)
		}
	}
	return uuids
}

// dangerous are the nodes that could lose data and are not abandoned.
func dangerous(hold nodeapi.Hold, abandon []string) (names []string) {
	spared := map[string]bool{}
	for _, a := range abandon {
		spared[a] = true
	}
	for _, n := range hold.Nodes {
		if n.Dangerous && n.AtWork && !spared[n.UUID] && !spared[n.Name] {
			names = append(names, name(n))
		}
	}
	return names
}
