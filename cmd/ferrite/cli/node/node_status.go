package node

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeStatus(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "status NODE...",
		Short: "Show the current step, the reason of a wait, and the next command",
		Long: `Show the current step of machines, its reason to wait, and the deadline. The boot stages,
the bytes written, the last reading of the power state and the last heartbeat follow. If
something is wrong, the last error and the next command to try are at the end.`,
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
				st.Try = withAddress(cmd.Context(), s, st)
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := output.PrintAny(s, cmd.OutOrStdout(), reply, statusTable(st)); err != nil {
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

// statusTable leaves out empty rows.
func statusTable(st nodeapi.Status) *output.Table {
	t := output.NewTable()
	t.Pair("node", wait.Join(st.Node, st.Name))
	t.Pair("state", st.State)
	t.Pair("on its way to", st.Target)
	if st.Maintenance {
		t.Pair("maintenance", wait.Join("yes", cmp.Or(st.MaintenanceReason, st.Fault)))
	}
	t.Pair("power", st.Power)
	t.Pair("power read", wait.Clock(st.PowerReadAt))
	t.Pair("activity", st.Activity)
	t.Pair("since", wait.Clock(st.Since))
	if st.Step != "" {
		t.Pair("step", fmt.Sprintf("%s (%d of %d)", st.Step, st.Index+1, len(st.Steps)))
	}
	t.Pair("waits for", st.WaitingFor)
	for _, w := range st.Warnings {
		t.Pair("warning", w)
	}
	t.Pair("waits since", wait.Clock(st.WaitingSince))
	t.Pair("until", wait.Clock(st.Until))
	for _, stage := range st.BootStages {
		t.Pair("boot", wait.Clock(stage.At)+"  "+wait.Join(stage.Name, stage.Detail))
	}
	if p := st.Progress; p != nil {
		t.Pair("progress", wait.ProgressText(*p))
	}
	t.Pair("agent heard of", wait.Clock(st.LastHeartbeat))
	t.Pair("last error", st.LastError)
	t.Pair("try", st.Try)
	return t
}
