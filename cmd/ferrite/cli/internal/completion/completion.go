// Package completion offers a shell the next words of a command: names of nodes and records, states, drivers,
// interfaces and settings.
//
// The arguments of a command are read off its usage line, and a flag is known by its name, so a new command is
// completed without a line here. Names come from the conductor that the command would ask. A conductor that does not
// answer costs two seconds and no message.
package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// patience is how long a shell waits for the conductor.
const patience = 2 * time.Second

// request is the state of the command line when a person presses Tab.
type request struct {
	ctx     context.Context
	session *client.Session // its client is open
	cmd     *cobra.Command
	args    []string // complete arguments before the word at the cursor
	typed   string   // the part of the word before the cursor
}

// source lists words, each with a description after a tab where there is one.
type source func(request) ([]string, error)

// Add completes the arguments and flags of a command and of all below it, as
// far as they have no completion of their own. A command that asks no conductor
// has no session, and gets files and folders.
func Add(root *cobra.Command, s *client.Session) {
	if s != nil {
		checkArgs(root)
	}
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	add(root, s)
}

// checkArgs gives the check of arguments to the commands that have none of their own.
func checkArgs(cmd *cobra.Command) {
	if cmd.Args == nil && cmd.RunE != nil {
		cmd.Args = Args(cmd.Use)
	}
	for _, below := range cmd.Commands() {
		checkArgs(below)
	}
}

// add completes one command, and those below it.
func add(cmd *cobra.Command, s *client.Session) {
	if words := arguments(cmd.Use); cmd.ValidArgsFunction == nil && len(words) > 0 {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			word, ok := at(words, len(args))
			if !ok {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			if word == "FILE" {
				return Files(cmd, args, typed)
			}
			return ask(cmd, s, argumentSource(cmd, word), args, typed)
		}
	}
	complete := func(f *pflag.Flag) {
		if _, done := cmd.GetFlagCompletionFunc(f.Name); !done && f.Value.Type() != "bool" {
			client.Must(cmd.RegisterFlagCompletionFunc(f.Name, ofFlag(s, f)))
		}
	}
	cmd.Flags().VisitAll(complete) // its own; LocalFlags would merge in the parents' flags for good
	cmd.PersistentFlags().VisitAll(complete)
	for _, below := range cmd.Commands() {
		add(below, s)
	}
}

// ofFlag completes the value of a flag.
func ofFlag(s *client.Session, f *pflag.Flag) cobra.CompletionFunc {
	_, annotated := f.Annotations[cobra.BashCompFilenameExt]
	switch name, _ := pflag.UnquoteUsage(f); {
	case annotated, name == "file", name == "path":
		return Files
	case name == "folder":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return ask(cmd, s, flagSource(cmd, f.Name), args, typed)
	}
}

// Files leaves it to the shell to offer files.
func Files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Names completes with the names that read gets from the conductor.
func Names(cmd *cobra.Command, s *client.Session, args []string, typed string,
	read func(context.Context) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	return ask(cmd, s, func(r request) ([]string, error) { return read(r.ctx) }, args, typed)
}

// ask reads a source and keeps the words that fit. An error is silent: the
// shell has no place for it.
func ask(cmd *cobra.Command, s *client.Session, from source, args []string, typed string) ([]string,
	cobra.ShellCompDirective) {
	if from == nil || s == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	// A password on standard input would be read from the shell's terminal.
	if s.Open(strings.NewReader("")) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, err := from(request{ctx, s, cmd, args, typed})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	var fit []string
	for _, text := range all {
		word, _, _ := strings.Cut(text, "\t")
		if word == "" || !strings.HasPrefix(word, typed) || slices.Contains(args, word) {
			continue
		}
		if strings.HasSuffix(word, "=") { // the value follows at once
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		fit = append(fit, text)
	}
	slices.Sort(fit)
	return slices.Compact(fit), directive
}
