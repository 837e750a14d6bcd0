package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// explainUsage words the usage errors of a command, and of all below it: the
// command as typed, its usage, and where to read more. Those of cobra count
// arguments without their names.
func explainUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil && cmd.HasSubCommands() {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return unknownCommand(cmd, args[0])
		}
	} else if check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return usageError(cmd, "found "+counted(len(args)))
		}
	}
	for _, below := range cmd.Commands() {
		explainUsage(below)
	}
}

// counted is a number of arguments in words.
func counted(n int) string {
	switch n {
	case 0:
		return "no argument"
	case 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// usageError says how a command is used, and what was found instead.
func usageError(cmd *cobra.Command, found string) error {
	usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	return fmt.Errorf("expected %s; %s\n  see: %s --help", usage, found, cmd.CommandPath())
}

// unknownCommand names the commands that are spelt alike.
func unknownCommand(cmd *cobra.Command, name string) error {
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2 // cobra's own default, which it sets for the root alone
	}
	text := fmt.Sprintf("unknown command %q for %q", name, cmd.CommandPath())
	if alike := cmd.SuggestionsFor(name); len(alike) > 0 {
		for i, a := range alike {
			alike[i] = cmd.CommandPath() + " " + a
		}
		return errors.New(text + "\n  try: " + strings.Join(alike, " or "))
	}
	return errors.New(text + "\n  see: " + cmd.CommandPath() + " --help")
}

var (
	missingFlags = regexp.MustCompile(`^required flag\(s\) "(.*)" not set$`)
	exclusive    = regexp.MustCompile(`^if any flags in the group .* none of the others can be; \[(.*)\] were all set$`)
	badValue     = regexp.MustCompile(`^invalid argument (".*") for "(?:-\w, )?(--[\w-]+)" flag: (.*)$`)
	oneOfFlags   = regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`)
)

// explainFlags words cobra's errors about missing flags.
func explainFlags(cmd *cobra.Command, err error) error {
	see := "\n  see: " + cmd.CommandPath() + " --help"
	if m := missingFlags.FindStringSubmatch(err.Error()); m != nil {
		return errors.New(cmd.CommandPath() + " needs " + dashed(strings.Split(m[1], `", "`), " and ") + see)
	}
	if m := oneOfFlags.FindStringSubmatch(err.Error()); m != nil {
		return errors.New(cmd.CommandPath() + " needs " + dashed(strings.Fields(m[1]), " or ") + see)
	}
	if m := exclusive.FindStringSubmatch(err.Error()); m != nil {
		return errors.New(dashed(strings.Fields(m[1]), " and ") + " exclude each other: leave one out" + see)
	}
	return err
}

// dashed are the names of flags in a sentence.
func dashed(names []string, joint string) string {
	flags := make([]string, len(names))
	for i, name := range names {
		flags[i] = "--" + name
	}
	last := len(flags) - 1
	if last == 0 {
		return flags[0]
	}
	return strings.Join(flags[:last], ", ") + joint + flags[last]
}

// explainValue words an error about the name or the value of a flag.
func explainValue(cmd *cobra.Command, err error) error {
	text := cmd.CommandPath() + ": " + err.Error()
	if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		expected := m[3]
		if f := cmd.Flag(strings.TrimLeft(m[2], "-")); f != nil {
			switch f.Value.Type() {
			case "bool":
				expected = "expected true or false"
			case "duration":
				expected = "expected a time like 30s or 10m"
			case "int":
				expected = "expected a whole number"
			}
		}
		text = m[2] + " " + m[1] + ": " + expected
	}
	return errors.New(text + "\n  see: " + cmd.CommandPath() + " --help")
}
