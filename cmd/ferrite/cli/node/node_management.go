package node

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeBootDevice(s *client.Session) *cobra.Command {
	one := func(use, short, part string) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return output.ShowPath(s, cmd, client.NodePath(args[0], "management", part))
			},
		}
	}
	var persistent bool
	set := &cobra.Command{
		Use:   "set NODE DEVICE",
		Short: "Set the next boot device: pxe, disk, cdrom, ...",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := nodeapi.BootDevice{Device: args[1], Persistent: persistent}
			err := wait.Unlocked(cmd.Context(), args[0], func(ctx context.Context, node string) error {
				return s.Client.Do(ctx, "PUT", client.NodePath(node, "management", "boot_device"), body, nil)
			})
			if err != nil {
				return refused(cmd.Context(), s, cmd, args[0], err)
			}
			return output.Say(s, cmd, "%s boots from %s\n", args[0], args[1])
		},
	}
	set.Flags().BoolVar(&persistent, "persistent", false, "for all boots from now on, not only the next")
	return client.Group("boot-device", "Boot devices of machines", "", set,
		one("show NODE", "Show the next boot device", "boot_device"),
		one("supported NODE", "List the boot devices that a machine supports", "boot_device/supported"))
}

func nodeValidate(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "validate NODE",
		Short: "Show which settings each interface lacks",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var reply json.RawMessage
			if err := s.Client.Do(cmd.Context(), "GET", client.NodePath(args[0], "validate"), nil, &reply); err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply, validRows(reply))
		},
	}
}

func validRows(reply json.RawMessage) func(t table.Writer) error {
	return func(t table.Writer) error {
		var verdicts map[string]any
		byKind := map[string]nodeapi.Valid{}
		if err := json.Unmarshal(reply, &verdicts); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		if err := json.Unmarshal(reply, &byKind); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		t.AppendHeader(table.Row{"Interface", "Works", "Reason"})
		for _, kind := range output.Sorted(verdicts) {
			works := "not supported"
			if r := byKind[kind].Result; r != nil {
				works = map[bool]string{true: "yes", false: "no"}[*r]
			}
			t.AppendRow(table.Row{kind, works, byKind[kind].Reason})
		}
		return nil
	}
}

func nodeInventory(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "inventory NODE",
		Short: "Show the inventory of a machine, as JSON or YAML (-o yaml)",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var reply json.RawMessage
			if err := s.Client.Do(cmd.Context(), "GET", client.NodePath(args[0], "inventory"), nil, &reply); err != nil {
				return err
			}
			if s.People() { // it is a tree
				s.Output = "json"
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply, nil)
		},
	}
}

// historyColumns are the columns of the history. The user is the requester of a recorded event; empty for the
// conductor's own.
func historyColumns() []output.Column {
	return []output.Column{{Field: "created_at", Head: "time"}, {Field: "severity", Wide: true},
		{Field: "event_type", Head: "type"}, {Field: "user"}, {Field: "conductor", Wide: true}, {Field: "event"}}
}

func nodeHistory(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "history NODE",
		Short: "Show the history of a machine",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var page map[string]json.RawMessage
			if err := s.Client.Do(cmd.Context(), "GET", client.NodePath(args[0], "history")+"?detail=True", nil,
				&page); err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), page["history"],
				output.RowsOf(s, page["history"], historyColumns()))
		},
	}
}
