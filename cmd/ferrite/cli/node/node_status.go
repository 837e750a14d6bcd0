package node

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeStatus(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "status NODE...",
		Short: "Show the current step, what it waits for, and what to try next",
		Long: `Show the current step of machines, what it waits for, and the deadline. The boot stages,
the bytes written, the last reading of the power state and the last heartbeat follow. If
something is wrong, the last error and the next command to try are at the end.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := wait.ReadStatuses(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			var replies []json.RawMessage
			for i, st := range all {
				reply, err := json.Marshal(st)
				if err != nil {
					return err
				}
				replies = append(replies, reply)
				if !s.People() {
					continue
				}
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := output.PrintAny(s, cmd.OutOrStdout(), reply, statusRows(st)); err != nil {
					return err
				}
			}
			if s.People() {
				return nil
			}
			return output.PrintSome(s, cmd, len(args), replies)
		},
	}
}

// statusRows leaves out empty rows.
func statusRows(st nodeapi.Status) func(t table.Writer) error {
	return func(t table.Writer) error {
		row := func(name, value string) {
			if value != "" {
				t.AppendRow(table.Row{name, value})
			}
		}
		row("node", wait.Join(st.Node, st.Name))
		row("state", st.State)
		row("on its way to", st.Target)
		if st.Maintenance {
			row("maintenance", wait.Join("yes", cmp.Or(st.MaintenanceReason, st.Fault)))
		}
		row("power", st.Power)
		row("power read", wait.Clock(st.PowerReadAt))
		row("activity", st.Activity)
		row("since", wait.Clock(st.Since))
		if st.Step != "" {
			row("step", fmt.Sprintf("%s (%d of %d)", st.Step, st.Index+1, len(st.Steps)))
		}
		row("waits for", st.WaitingFor)
		for _, w := range st.Warnings {
			row("warning", w)
		}
		row("waits since", wait.Clock(st.WaitingSince))
		row("until", wait.Clock(st.Until))
		for _, stage := range st.BootStages {
			row("boot", wait.Clock(stage.At)+"  "+wait.Join(stage.Name, stage.Detail))
		}
		if p := st.Progress; p != nil {
			row("progress", wait.ProgressText(*p))
		}
		row("agent heard of", wait.Clock(st.LastHeartbeat))
		row("last error", st.LastError)
		row("try", wait.Next(st))
		return nil
	}
}
