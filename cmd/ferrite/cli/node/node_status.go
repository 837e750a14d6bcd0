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
		Use:   "status NODE",
		Short: "Show the current step, what it waits for, and what to try next",
		Long: `Show the current step of a machine, what it waits for, and the deadline. The boot stages,
the bytes written, the last reading of the power state and the last heartbeat follow. If
something is wrong, the last error and the next command to try are at the end.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := wait.ReadStatus(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			reply, err := json.Marshal(st)
			if err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply, statusRows(st))
		},
	}
}

// statusRows leaves out what there is nothing to say about.
func statusRows(st nodeapi.Status) func(t table.Writer) error {
	return func(t table.Writer) error {
		row := func(name, value string) {
			if value != "" {
				t.AppendRow(table.Row{name, value})
			}
		}
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: output.Wide}})
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
		row("try", st.Try)
		return nil
	}
}
