package completion_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/completion"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// freeArguments are the arguments that a person makes up, and files.
var freeArguments = map[string][]string{
	"ferrite create":              {"FILE"},
	"ferrite erase-report save":   {"FILE"},
	"ferrite erase-report verify": {"FILE"},
	"ferrite export ironic":       {"URL"},
	"ferrite image add":           {"NAME", "FILE|URL"},
	"ferrite import ironic":       {"URL"},
	"ferrite import metal3":       {"FILE|-"},
	"ferrite lease reserve":       {"IP"},
	"ferrite port create":         {"MAC"},
	"ferrite runbook create":      {"NAME"},
	"ferrite template create":     {"NAME"},
}

// freeFlags are the flags with values that a person makes up.
var freeFlags = []string{
	"after", "before",
	"checksum", "connector-id", "description", "description-contains", "extra",
	"help", "id", "instance-info", "instance-uuid", "ironic-user",
	"os-auth-url", "os-project-domain-name", "os-project-name", "os-user-domain-name", "os-username",
	"marker", "name", "network-data", "physical-network", "port", "protected-reason", "reason", "retired-reason", "vendor",
	"category", "selector",
	"step", "url", "user", "uuid", "volume-id", "wait",
}

// TestEveryArgument: the arguments and flags of every command are completed,
// apart from free text.
func TestEveryArgument(t *testing.T) {
	walk(cli.New("1.2.3-test"), func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction != nil && cmd.Runnable() && !cmd.HasSubCommands() && !ownArguments(cmd) {
			if diff := cmp.Diff(freeArguments[cmd.CommandPath()], completion.FreeArguments(cmd)); diff != "" {
				t.Errorf("%s: arguments that nothing completes (-want +got):\n%s", cmd.CommandPath(), diff)
			}
		}
		check := func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "bool", "int", "duration":
				return
			}
			if !slices.Contains(freeFlags, f.Name) && !completion.Completed(cmd, f.Name) {
				t.Errorf("%s --%s is not completed", cmd.CommandPath(), f.Name)
			}
		}
		cmd.LocalFlags().VisitAll(check)
	})
}

// ownArguments: commands about documents complete kinds and names by themselves.
func ownArguments(cmd *cobra.Command) bool {
	return slices.Contains([]string{"get", "describe", "apply", "delete", "reprovision"}, cmd.Name()) &&
		cmd.Parent().CommandPath() == "ferrite host" ||
		slices.Contains([]string{"completion", "help"}, cmd.Name())
}

func walk(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		walk(below, do)
	}
}

// TestStates: the states offered are those that the conductor knows; the resting ones wait for a person.
func TestStates(t *testing.T) {
	var all, resting []string
	for state, info := range node.States {
		all = append(all, string(state))
		if info.Class != node.Working && info.Class != node.Waiting {
			resting = append(resting, string(state))
		}
	}
	for name, lists := range map[string]struct{ want, got []string }{
		"all": {all, nodeapi.ProvisionStates()}, "resting": {resting, nodeapi.RestingStates()},
	} {
		slices.Sort(lists.want)
		slices.Sort(lists.got)
		if diff := cmp.Diff(lists.want, lists.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
