package inventory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/trait"
)

const runbookHelp = `Runbooks: steps to clean or service a machine with, kept under a name. A machine
can be run through a runbook when it has one of the runbook's traits; before
microversion 1.112, when it has the runbook's name for a trait.`

const runbookStepsHelp = "the steps: a list of {interface, step, args, order}, without order in the order given, as JSON or a `file` of JSON or YAML"

// RunbookCommand is ferrite runbook.
func RunbookCommand(s *client.Session) *cobra.Command {
	r := record{s, "runbook", "RUNBOOK", "runbooks", []string{"uuid", "name", "owner", "public", "traits"}}
	return client.Group("runbook", "Runbooks: steps to clean or service machines with", runbookHelp,
		r.list(), r.show(), runbookCreate(r), runbookSet(r), r.delete(),
		trait.Command(s, "runbook", "RUNBOOK", r.path))
}

func runbookFlags(cmd *cobra.Command) *recordFlags {
	flags := cmd.Flags()
	f := &recordFlags{
		texts: map[string]*string{
			"owner":       flags.String("owner", "", "whose it is; a public runbook has no owner"),
			"description": flags.String("description", "", "words for people"),
		},
		bools: map[string]*bool{
			"public":          flags.Bool("public", false, "for everyone to use"),
			"disable-ramdisk": flags.Bool("disable-ramdisk", false, "run it without the agent"),
		},
		complete: func(place int, step map[string]any) {
			if _, ok := step["order"]; !ok {
				step["order"] = place + 1
			}
		},
	}
	flags.StringVar(&f.steps, "steps", "", runbookStepsHelp)
	f.extra(cmd)
	return f
}

func runbookCreate(r record) *cobra.Command {
	var traits []string
	cmd := &cobra.Command{
		Use:     "create NAME --steps STEPS [--trait TRAIT]...",
		Short:   "Add a runbook",
		Example: `  ferrite runbook create firmware --steps firmware.yaml --trait CUSTOM_FIRMWARE`,
		Args:    cobra.ExactArgs(1),
	}
	f := runbookFlags(cmd)
	cmd.Flags().StringArrayVar(&traits, "trait", nil, "trait of the machines it is meant for; repeat it")
	client.Must(cmd.MarkFlagRequired("steps"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		reply, err := r.create(cmd, f, map[string]any{"name": args[0]})
		if err != nil {
			return err
		}
		if len(traits) == 0 {
			return output.PrintAny(r.session, cmd.OutOrStdout(), reply, output.Fields(reply))
		}
		body := map[string]any{"traits": traits}
		if err := r.session.Client.Do(cmd.Context(), "PUT", r.path(args[0], "traits"), body, nil); err != nil {
			return fmt.Errorf("runbook %s is created, but has no traits: %w\n  give it some with: ferrite runbook "+
				"trait add %s %s",
				args[0], err, args[0], strings.Join(traits, " "))
		}
		return output.ShowPath(r.session, cmd, r.path(args[0]))
	}
	return cmd
}

func runbookSet(r record) *cobra.Command {
	cmd := &cobra.Command{Use: "set RUNBOOK [--FIELD VALUE]...", Short: "Change a runbook"}
	f := runbookFlags(cmd)
	f.texts["name"] = cmd.Flags().String("name", "", "its new name")
	return r.set(f, cmd)
}
