package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const templateHelp = `A deploy template adds steps to a deploy. Its name is a trait: CUSTOM_ and a word in
capitals. The steps are added when instance_info/traits contains that trait, and the
machine has it.`

const templateStepsHelp = "list of {interface, step, args, priority}, as JSON or a `file` of JSON or YAML; args can " +
	"be left out"

// TemplateCommand is ferrite template.
func TemplateCommand(s *client.Session) *cobra.Command {
	r := record{s, "deploy template", "TEMPLATE", "deploy_templates", named("created_at")}
	return client.Group("template", "Deploy templates: steps that traits add to a deploy", templateHelp,
		r.list(), r.show(), templateCreate(r), templateSet(r), r.delete())
}

func templateFlags(cmd *cobra.Command) *recordFlags {
	f := &recordFlags{complete: func(_ int, step map[string]any) {
		if _, ok := step["args"]; !ok {
			step["args"] = map[string]any{}
		}
	}}
	cmd.Flags().StringVar(&f.steps, "steps", "", templateStepsHelp)
	f.extra(cmd)
	return f
}

func templateCreate(r record) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "create NAME --steps STEPS",
		Short:   "Add a deploy template",
		Example: `  ferrite template create CUSTOM_RAID1 --steps raid1.yaml`,
		Args:    cobra.ExactArgs(1),
	}
	f := templateFlags(cmd)
	client.Must(cmd.MarkFlagRequired("steps"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return r.created(cmd, f, map[string]any{"name": args[0]})
	}
	return cmd
}

func templateSet(r record) *cobra.Command {
	cmd := &cobra.Command{Use: "set TEMPLATE [--FIELD VALUE]...", Short: "Change a deploy template"}
	f := templateFlags(cmd)
	f.texts = map[string]*string{"name": cmd.Flags().String("name", "", "new name")}
	return r.set(f, cmd)
}
