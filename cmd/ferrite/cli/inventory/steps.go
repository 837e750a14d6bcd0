package inventory

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var templates = noun.Noun{
	Use: "template", Short: "Deploy templates: steps that traits add to a deploy", Name: "deploy template",
	Long: `A deploy template adds steps to a deploy. Its name is a trait: CUSTOM_ and a word in
capitals. The steps are added when instance_info/traits contains that trait, and the
machine has it.`,
	Arg: "TEMPLATE", Path: nodeapi.Root + "/deploy_templates", Columns: noun.Named("created_at"),
	Fields: []noun.Field{
		noun.UUID,
		{Name: "name", Only: "PATCH", Required: true, Help: "new name"},
		{Name: "steps", Kind: noun.Objects, Required: true, Complete: completeArgs,
			Help: "list of {interface, step, args, priority}, as JSON or a `file` of JSON or YAML; args can be left out"},
		noun.Extra,
	},
	Verbs: []noun.Verb{noun.List, noun.Show,
		{Use: "create NAME --steps STEPS", Short: "Add a deploy template", Method: "POST",
			Body:    map[string]any{"name": "{0}"},
			Example: `  ferrite template create CUSTOM_RAID1 --steps raid1.yaml`},
		noun.Set("Change a deploy template"), noun.Unset, noun.Delete},
}

// completeArgs adds the arguments of a step that has none.
func completeArgs(_ int, step map[string]any) {
	if _, ok := step["args"]; !ok {
		step["args"] = map[string]any{}
	}
}

var runbooks = noun.Noun{
	Use: "runbook", Short: "Runbooks: named steps for cleaning and service",
	Long: `A runbook is a named list of steps for cleaning or service. It can be used for machines
that have one of its traits. Before microversion 1.112 that trait is the runbook's name.`,
	Arg: "RUNBOOK", Path: nodeapi.Root + "/runbooks", Columns: noun.Named("owner", "public", "traits"),
	Fields: []noun.Field{
		noun.UUID,
		{Name: "name", Only: "PATCH", Required: true, Help: "new name"},
		{Name: "owner", Help: "owner; a public runbook has none"},
		{Name: "description", Help: "free text"},
		{Name: "public", Value: false, Help: "everyone can use it"},
		{Name: "disable_ramdisk", Value: false, Help: "do not boot the ramdisk for it"},
		{Name: "steps", Kind: noun.Objects, Required: true, Complete: completeOrder,
			Help: "list of {interface, step, args, order}, as JSON or a `file` of JSON or YAML; order is the " +
				"place in the list when left out"},
		noun.Extra,
	},
	Verbs: []noun.Verb{noun.List, noun.Show,
		{Use: "create NAME --steps STEPS [--trait TRAIT]...", Short: "Add a runbook", Method: "POST",
			Body: map[string]any{"name": "{0}"}, Also: runbookTraits,
			Example: `  ferrite runbook create firmware --steps firmware.yaml --trait CUSTOM_FIRMWARE`},
		noun.Set("Change a runbook"), noun.Unset, noun.Delete},
	Below: []noun.Noun{noun.Traits("runbook", "RUNBOOK", nodeapi.Root+"/runbooks")},
}

// completeOrder adds the place of a step that has none.
func completeOrder(place int, step map[string]any) {
	if _, ok := step["order"]; !ok {
		step["order"] = place + 1
	}
}

// runbookTraits gives traits to a new runbook, which the API does by another request.
func runbookTraits(s *client.Session, cmd *cobra.Command) noun.After {
	traits := cmd.Flags().StringArray("trait", nil, "trait of the machines that it is for; repeat it")
	return func(cmd *cobra.Command, args []string, reply json.RawMessage) (json.RawMessage, error) {
		if len(*traits) == 0 {
			return reply, nil
		}
		path, body := nodeapi.Root+"/runbooks/"+url.PathEscape(args[0]), map[string]any{"traits": *traits}
		if err := s.Client.Do(cmd.Context(), "PUT", path+"/traits", body, nil); err != nil {
			return nil, fmt.Errorf("runbook %s is created, but has no traits: %w\n  add them with: ferrite runbook "+
				"trait add %s %s", args[0], err, args[0], strings.Join(*traits, " "))
		}
		err := s.Client.Do(cmd.Context(), "GET", path, nil, &reply)
		return reply, err
	}
}

var inspectionRules = noun.Noun{
	Use: "inspection-rule", Short: "Rules that change nodes by the results of inspections", Name: "inspection rule",
	Long: `Inspection rules change nodes by the results of inspections. If an inspected machine
meets all conditions of a rule, the conductor carries out the rule's actions. Rules
with a higher priority come first.`,
	Arg: "RULE", Path: nodeapi.Root + "/inspection_rules",
	Columns: output.Columns("uuid", "description", "phase", "priority"),
	Fields: []noun.Field{
		noun.UUID,
		{Name: "description", Help: "free text"},
		{Name: "phase", Help: "phase of the inspection; main is the only one"},
		{Name: "sensitive", Value: false,
			Help: "hide conditions and actions from now on, because they contain secrets"},
		{Name: "priority", Value: 0, Help: "rules with a higher priority come first"},
		{Name: "conditions", Kind: noun.Objects, Help: "list of {op, args}, as JSON or a `file` of JSON or YAML; " +
			"without conditions the rule fits every machine"},
		{Name: "actions", Kind: noun.Objects, Required: true,
			Help: "list of {op, args}, as JSON or a `file` of JSON or YAML"},
	},
	Verbs: []noun.Verb{noun.List, noun.Show,
		noun.Create("--actions ACTIONS [--conditions CONDITIONS] [--FIELD VALUE]...", "Add an inspection rule",
			`  ferrite inspection-rule create --description "large machines" --conditions large.yaml --actions `+
				`'[{"op": "add-trait", "args": {"name": "CUSTOM_LARGE"}}]'`),
		noun.Set("Change an inspection rule"), noun.Unset, noun.Delete},
}
