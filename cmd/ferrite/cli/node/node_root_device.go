package node

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeRootDevice(s *client.Session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "root-device NODE [KEY=HINT]...",
		Short: "Show which disk would be the root device, and the reasons against the others",
		Long: `Show which disk of the last inspection a deploy would write to, and why not the others.
Without hints, the hints of the node count. With hints, these are tried instead. If they
match a disk, they are stored in the node's properties as root_device. With --dry-run,
nothing is stored.

Hints are size (GiB), rotational, name, model, vendor, serial, wwn,
wwn_with_extension, wwn_vendor_extension, hctl, by_path and tran. All must match.
A hint is a value, or an operator and a value:

  = (at least) == != >= <= > <    numbers
  s== s!= s>= s> s<= s<           text
  <in> <all-in>                   parts of text
  <or>                            before each of several values`,
		Example: "  ferrite node root-device m1\n  ferrite node root-device m1 'size=>= 400' 'model=<in> " +
			"samsung' --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := hintsQuery(args[1:])
			if err != nil {
				return err
			}
			choice, err := rootDevice(s, cmd, args[0], query)
			if err != nil {
				return err
			}
			if choice.Refusal != "" {
				return errors.New(choice.Refusal)
			}
			if dryRun || len(query.RootDevice) == 0 {
				return nil
			}
			ops := []nodeapi.Patch{{Op: "add", Path: "/properties/root_device", Value: query.RootDevice}}
			if err := wait.Do(cmd.Context(), s, "PATCH", client.NodePath(args[0]), ops, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "properties.root_device of %s is set\n", args[0])
			return err
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "store no hints")
	return cmd
}

func hintsQuery(args []string) (q nodeapi.RootDeviceQuery, err error) {
	if len(args) > 0 {
		q.RootDevice, err = output.Pairs("hint", args, hintText)
	}
	return q, err
}

// hintText keeps any value as text: a serial number can consist of digits, and a number of GiB may be written as text.
func hintText(value string) any { return value }

// rootDevice asks for a choice and prints it.
func rootDevice(s *client.Session, cmd *cobra.Command, node string,
	q nodeapi.RootDeviceQuery) (choice nodeapi.RootDevice, err error) {
	var reply json.RawMessage
	err = s.Client.Do(cmd.Context(), "POST", client.FerritePath(node, "root-device"), q, &reply)
	if err != nil {
		return choice, s.Older(err, "cannot say which disk it would take")
	}
	if err := json.Unmarshal(reply, &choice); err != nil {
		return choice, fmt.Errorf("the conductor's answer: %w", err)
	}
	return choice, output.PrintAny(s, cmd.OutOrStdout(), reply, verdictTable(choice))
}

func verdictTable(choice nodeapi.RootDevice) *output.Table {
	t := output.NewTable("Disk", "Size", "Model", "Serial", "Taken", "Why")
	for _, d := range choice.Disks {
		t.Row(d.Name, wait.SizeText(d.Size), d.Model, d.Serial, map[bool]string{true: "yes", false: "no"}[d.Taken], d.Why)
	}
	return t
}
