package inventory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/trait"
)

const runbookHelp = `A runbook is a named list of steps for cleaning or service. It can be used for machines
that have one of its traits. Before microversion 1.112 that trait is the runbook's name.`

const runbookStepsHelp = "list of {interface, step, args, order}, as JSON or a `file` of JSON or YAML; order is the " +
	"place in the list when left out"

// RunbookCommand is ferrite runbook.
func RunbookCommand(s *client.Session) *cobra.Command {
	r := record{s, "runbook", "RUNBOOK", "runbooks", named("owner", "public", "traits")}
	return client.Group("runbook", "Runbooks: named steps for cleaning and service", runbookHelp,
		r.list(), r.show(), runbookCreate(r), runbookSet(r), r.delete(),
		trait.Command(s, "runbook", "RUNBOOK", r.path))
}

func runbookFlags(cmd *cobra.Command) *recordFlags {
	flags := cmd.Flags()
	f := &recordFlags{
		texts: map[string]*string{
			"owner":       flags.String("owner", "", "owner; a public runbook has none"),
			"description": flags.String("description", "", "free text"),
		},
		bools: map[string]*bool{
			"public":          flags.Bool("public", false, "everyone can use it"),
			"disable-ramdisk": flags.Bool("disable-ramdisk", false, "do not boot the ramdisk for it"),
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
	cmd.Flags().StringArrayVar(&traits, "trait", nil, "trait of the machines that it is for; repeat it")
	client.Must(cmd.MarkFlagRequired("steps"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		reply, err := r.create(cmd, f, map[string]any{"name": args[0]})
		if err != nil {
			return err
		}
		if len(traits) == 0 {
			return output.PrintAny(r.session, cmd.OutOrStdout(), reply, output.Fields(r.session, reply))
		}
		body := map[string]any{"traits": traits}
		if err := r.session.Client.Do(cmd.Context(), "PUT", r.path(args[0], "traits"), body, nil); err != nil {
			return fmt.Errorf("runbook %s is created, but has no traits: %w\n  add them with: ferrite runbook "+
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
	f.texts["name"] = cmd.Flags().String("name", "", "new name")
	return r.set(f, cmd)
}
