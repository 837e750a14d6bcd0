package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

const inspectionRuleHelp = `Inspection rules change nodes by the results of inspections. If an inspected machine
meets all conditions of a rule, the conductor carries out the rule's actions. Rules
with a higher priority come first.`

// InspectionRuleCommand is ferrite inspection-rule.
func InspectionRuleCommand(s *client.Session) *cobra.Command {
	r := record{s, "inspection rule", "RULE", "inspection_rules",
		output.Columns("uuid", "description", "phase", "priority")}
	return client.Group("inspection-rule", "Rules that change nodes by the results of inspections", inspectionRuleHelp,
		r.list(), r.show(), inspectionRuleCreate(r), inspectionRuleSet(r), r.delete())
}

func inspectionRuleFlags(cmd *cobra.Command) *recordFlags {
	flags := cmd.Flags()
	return &recordFlags{
		texts: map[string]*string{
			"description": flags.String("description", "", "free text"),
			"phase":       flags.String("phase", "", "phase of the inspection; main is the only one"),
		},
		bools: map[string]*bool{
			"sensitive": flags.Bool("sensitive", false, "hide conditions and actions from now on, because they contain secrets"),
		},
		numbers: map[string]*int{"priority": flags.Int("priority", 0, "rules with a higher priority come first")},
		lists: map[string]*string{
			"conditions": flags.String("conditions", "",
				"list of {op, args}, as JSON or a `file` of JSON or YAML; without conditions the rule fits every machine"),
			"actions": flags.String("actions", "", "list of {op, args}, as JSON or a `file` of JSON or YAML"),
		},
	}
}

func inspectionRuleCreate(r record) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "create --actions ACTIONS [--conditions CONDITIONS] [--FIELD VALUE]...",
		Short:   "Add an inspection rule",
		Example: `  ferrite inspection-rule create --description "large machines" --conditions large.yaml --actions '[{"op": "add-trait", "args": {"name": "CUSTOM_LARGE"}}]'`,
		Args:    cobra.NoArgs,
	}
	f := inspectionRuleFlags(cmd)
	client.Must(cmd.MarkFlagRequired("actions"))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return r.created(cmd, f, nil) }
	return cmd
}

func inspectionRuleSet(r record) *cobra.Command {
	cmd := &cobra.Command{Use: "set RULE [--FIELD VALUE]...", Short: "Change an inspection rule"}
	return r.set(inspectionRuleFlags(cmd), cmd)
}
