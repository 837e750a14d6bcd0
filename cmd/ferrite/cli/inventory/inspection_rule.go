package inventory

import (
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const inspectionRuleHelp = `Inspection rules: what is to be done with what inspections find. The actions of a
rule are done to every inspected machine that meets all its conditions; rules are
taken by priority, the highest first.`

// InspectionRuleCommand is ferrite inspection-rule.
func InspectionRuleCommand(s *client.Session) *cobra.Command {
	r := record{s, "inspection rule", "RULE", "inspection_rules", []string{"uuid", "description", "phase", "priority"}}
	return client.Group("inspection-rule", "What is done with what inspections find", inspectionRuleHelp,
		r.list(), r.show(), inspectionRuleCreate(r), inspectionRuleSet(r), r.delete())
}

func inspectionRuleFlags(cmd *cobra.Command) *recordFlags {
	flags := cmd.Flags()
	return &recordFlags{
		texts: map[string]*string{
			"description": flags.String("description", "", "words for people"),
			"phase":       flags.String("phase", "", "when it is taken; main is the only phase"),
		},
		bools: map[string]*bool{
			"sensitive": flags.Bool("sensitive", false, "never show its conditions and actions again, for the secrets in them"),
		},
		numbers: map[string]*int{"priority": flags.Int("priority", 0, "rules of a higher one are taken first")},
		lists: map[string]*string{
			"conditions": flags.String("conditions", "",
				"a list of {op, args}, as JSON or a `file` of JSON or YAML; without any it is for every machine"),
			"actions": flags.String("actions", "", "a list of {op, args}, as JSON or a `file` of JSON or YAML"),
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
