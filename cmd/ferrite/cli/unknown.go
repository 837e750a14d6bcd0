package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// otherWords are words that people know from other programs, and the command that they mean here.
var otherWords = map[string]string{
	"ls": "list", "rm": "delete", "remove": "delete", "del": "delete", "destroy": "undeploy", "teardown": "undeploy",
	"info": "show", "cat": "show", "add": "create", "new": "create", "enroll": "create", "enrol": "create",
	"register": "create", "update": "set", "edit": "set", "modify": "set", "start": "on", "stop": "off",
	"shutdown": "soft-off", "reset": "reboot", "restart": "reboot", "log": "logs", "machine": "node", "machines": "node",
	"baremetal": "node", "bmh": "host", "provision": "deploy", "install": "deploy", "wipe": "clean",
	"erase": "clean", "config": "serve", "configuration": "serve", "introspect": "inspect",
}

// mostTries is how many commands an error names.
const mostTries = 3

// unknownCommand names the commands that may have been meant.
func unknownCommand(cmd *cobra.Command, words []string) error {
	if words[0] == "help" && len(words) == 1 {
		below := strings.TrimPrefix(cmd.CommandPath(), "ferrite")
		return exit.Usage(fmt.Errorf("help comes first\n  try: ferrite help%s", below))
	}
	text := fmt.Sprintf("unknown command %q for %q", words[0], cmd.CommandPath())
	meant := meantBy(cmd, words[0])
	if len(meant) == 0 {
		return exit.Usage(fmt.Errorf("%s\n  see: %s --help", text, cmd.CommandPath()))
	}
	tries := make([]string, 0, mostTries)
	for _, c := range meant[:min(len(meant), mostTries)] {
		tries = append(tries, commandLine(c, words[1:]))
	}
	return exit.Usage(fmt.Errorf("%s\n  try: %s", text, strings.Join(tries, " or ")))
}

// commandLine is a command with the words that were typed after it, as far as they are commands below it, or all that
// can be its arguments.
func commandLine(c *cobra.Command, words []string) string {
	for len(words) > 0 && c.HasSubCommands() {
		meant := meantBelow(c, words[0])
		if meant == nil {
			return c.CommandPath()
		}
		c, words = meant, words[1:]
	}
	return strings.Join(append([]string{c.CommandPath()}, words...), " ")
}

// meantBy are the commands that a word may mean: below cmd, else anywhere, else spelt alike.
func meantBy(cmd *cobra.Command, word string) []*cobra.Command {
	if c := meantBelow(cmd, word); c != nil {
		return []*cobra.Command{c}
	}
	var all []*cobra.Command
	everywhere(cmd.Root(), func(c *cobra.Command) {
		if c.Name() == word || c.Name() == otherWords[word] {
			all = append(all, c)
		}
	})
	if len(all) > 0 {
		slices.SortStableFunc(all, func(a, b *cobra.Command) int {
			return cmp.Or(ofNodes(b)-ofNodes(a), len(a.CommandPath())-len(b.CommandPath()))
		})
		return all
	}
	names := map[string]*cobra.Command{}
	everywhere(cmd.Root(), func(c *cobra.Command) {
		if other := names[c.Name()]; other == nil || ofNodes(c) > ofNodes(other) {
			names[c.Name()] = c
		}
	})
	known := make([]string, 0, len(names))
	for name := range names {
		known = append(known, name)
	}
	slices.Sort(known)
	if near := nodeapi.Closest(word, known); near != "" {
		return []*cobra.Command{names[near]}
	}
	return nil
}

// meantBelow is the command below cmd that a word means: by its name, another word, the plural, or one spelt alike.
func meantBelow(cmd *cobra.Command, word string) *cobra.Command {
	byName := map[string]*cobra.Command{}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			byName[c.Name()] = c
			names = append(names, c.Name())
		}
	}
	for _, name := range []string{word, otherWords[word], strings.TrimSuffix(word, "s"),
		nodeapi.Closest(word, names)} {
		if c := byName[name]; c != nil {
			return c
		}
	}
	return nil
}

// ofNodes is 1 for the commands of nodes, which are meant mostly.
func ofNodes(c *cobra.Command) int {
	if strings.HasPrefix(c.CommandPath(), "ferrite node ") {
		return 1
	}
	return 0
}

// everywhere does something with every command that a person can give.
func everywhere(cmd *cobra.Command, do func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			do(c)
			everywhere(c, do)
		}
	}
}
