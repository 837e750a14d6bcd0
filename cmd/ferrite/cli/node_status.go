package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeStatus(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "status NODE",
		Short: "Say what a machine is doing, what it waits for, and what to try",
		Long: `Say what a machine is doing and since when: the step it is at, what it waits for, since and
until when, the boot stages seen, how many bytes are written, when its power state was last
read well and its agent heard of, the last error, and what to try next.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeNodes(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := s.status(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			reply, err := json.Marshal(st)
			if err != nil {
				return err
			}
			return s.print(cmd.OutOrStdout(), reply, statusRows(st))
		},
	}
}

// status asks a conductor how a node is; a server that is not Ferrite is asked
// for what Ironic tells.
func (s *session) status(ctx context.Context, node string) (nodeapi.Status, error) {
	var st nodeapi.Status
	err := s.client.do(ctx, "GET", ferritePath(node, "status"), nil, &st)
	if !notFound(err) {
		return st, err
	}
	var n nodeapi.Node
	if err := s.client.do(ctx, "GET", nodePath(node), nil, &n); err != nil {
		return st, err
	}
	return nodeapi.Status{
		Node: n.UUID, Name: n.Name, Power: n.PowerState, State: n.ProvisionState,
		Target: n.TargetProvisionState, LastError: n.LastError,
		Maintenance: n.Maintenance, MaintenanceReason: n.MaintenanceReason, Fault: n.Fault,
	}, nil
}

// statusRows leaves out what there is nothing to say about.
func statusRows(st nodeapi.Status) func(t table.Writer) error {
	return func(t table.Writer) error {
		row := func(name, value string) {
			if value != "" {
				t.AppendRow(table.Row{name, value})
			}
		}
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: wide}})
		row("node", join(st.Node, st.Name))
		row("state", st.State)
		row("on its way to", st.Target)
		if st.Maintenance {
			row("maintenance", join("yes", cmp.Or(st.MaintenanceReason, st.Fault)))
		}
		row("power", st.Power)
		row("power read", clock(st.PowerReadAt))
		row("activity", st.Activity)
		row("since", clock(st.Since))
		if st.Step != "" {
			row("step", fmt.Sprintf("%s (%d of %d)", st.Step, st.Index+1, len(st.Steps)))
		}
		row("waits for", st.WaitingFor)
		row("waits since", clock(st.WaitingSince))
		row("until", clock(st.Until))
		for _, stage := range st.BootStages {
			row("boot", clock(stage.At)+"  "+join(stage.Name, stage.Detail))
		}
		if p := st.Progress; p != nil {
			row("progress", progressText(*p))
		}
		row("agent heard of", clock(st.LastHeartbeat))
		row("last error", st.LastError)
		row("try", st.Try)
		return nil
	}
}

func progressText(p nodeapi.Progress) string {
	text := join(p.Step, p.Stage) + " " + bytesText(p.Done)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %s, %d%%", bytesText(p.Total), p.Done*100/p.Total)
	}
	if p.Rate > 0 {
		text += fmt.Sprintf(", %s/s", bytesText(int64(p.Rate)))
	}
	if p.ETA > 0 {
		text += fmt.Sprintf(", %s left", time.Duration(p.ETA*float64(time.Second)).Round(time.Second))
	}
	return text
}

// clock is a time with its distance from now.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := time.Until(t).Round(time.Second)
	switch {
	case d == 0:
		return t.Local().Format(time.DateTime) + " (now)"
	case d < 0:
		return fmt.Sprintf("%s (%s ago)", t.Local().Format(time.DateTime), -d)
	}
	return fmt.Sprintf("%s (in %s)", t.Local().Format(time.DateTime), d)
}
