package node

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

func nodeErasePlan(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "erase-plan NODE",
		Short: "Show how erase_devices would erase each disk of the last inspection",
		Long: `Show the methods that the step erase_devices would try on each disk, in order, and why
it would not use the others; -o wide names those methods. The plan is from the last inspection;
the step itself uses the settings of its own time.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var reply struct {
				PluginData struct {
					Plan json.RawMessage `json:"ferrite_erase_plan"`
				} `json:"plugin_data"`
			}
			if err := s.Client.Do(cmd.Context(), "GET", client.NodePath(args[0], "inventory"), nil, &reply); err != nil {
				return err
			}
			raw := reply.PluginData.Plan
			if len(raw) == 0 || string(raw) == "null" {
				return fmt.Errorf("the last inspection of %s has no erase plan: only the agent of this release makes one; "+
					"set the inspect interface agent and inspect the node again", args[0])
			}
			var plans []agentapi.ErasePlan
			if err := json.Unmarshal(raw, &plans); err != nil {
				return fmt.Errorf("ferrite_erase_plan of %s: %w", args[0], err)
			}
			return output.PrintAny(s, cmd.OutOrStdout(), raw, planTable(plans, s.Wide()))
		},
	}
}

func planTable(plans []agentapi.ErasePlan, wide bool) *output.Table {
	t := output.NewTable("Device", "Size", "Model", "Serial", "Would be", "Not by")
	for _, p := range plans {
		t.Row(p.Device, wait.SizeText(p.Size), p.Model, p.Serial, wouldBe(p), notBy(p, wide))
	}
	return t
}

func wouldBe(p agentapi.ErasePlan) string {
	switch {
	case p.Refused != "":
		return "REFUSED: " + p.Refused
	case p.Skipped != "":
		return "left alone: " + p.Skipped
	default:
		return "erased by " + strings.Join(p.Methods, ", else ")
	}
}

// notBy is why other methods are not used: each with its method, or each reason once. Methods of other kinds of disks
// need no names: the reason has the kind.
func notBy(p agentapi.ErasePlan, wide bool) string {
	var lines, reasons []string
	methods := map[string][]string{}
	for _, n := range p.NotTaken {
		lines = append(lines, n.Method+": "+n.Reason)
		if methods[n.Reason] == nil {
			reasons = append(reasons, n.Reason)
		}
		methods[n.Reason] = append(methods[n.Reason], n.Method)
	}
	if wide {
		return strings.Join(lines, "\n")
	}
	for i, reason := range reasons {
		if !strings.HasPrefix(reason, "not a") {
			reasons[i] = strings.Join(methods[reason], ", ") + ": " + reason
		}
	}
	return strings.Join(reasons, "\n")
}
