package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/suggest"
)

// explainUsage words the usage errors of a command, and of all commands below it: the command as typed, its usage, and
// its help. Cobra's own errors count arguments without their names.
func explainUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil && cmd.HasSubCommands() {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return unknownCommand(cmd, args)
		}
	} else if check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil || exit.Of(err) == exit.BadUsage {
				return err
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

// usageError shows the command's usage, and the arguments found instead.
func usageError(cmd *cobra.Command, found string) error {
	usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	return exit.Usage(fmt.Errorf("expected %s; %s\n  see: %s --help", usage, found, cmd.CommandPath()))
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
		return exit.Usage(errors.New(cmd.CommandPath() + " needs " + dashed(strings.Split(m[1], `", "`), " and ") + see))
	}
	if m := oneOfFlags.FindStringSubmatch(err.Error()); m != nil {
		return exit.Usage(errors.New(cmd.CommandPath() + " needs " + dashed(strings.Fields(m[1]), " or ") + see))
	}
	if m := exclusive.FindStringSubmatch(err.Error()); m != nil {
		return exit.Usage(errors.New(dashed(strings.Fields(m[1]), " and ") + " exclude each other: leave one out" + see))
	}
	if strings.HasPrefix(err.Error(), "--") { // as all errors about the value of a flag
		return exit.Usage(err)
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
		return exit.Usage(fmt.Errorf("%s %s: %s\n  see: %s --help", m[2], m[1], expected, cmd.CommandPath()))
	}
	if word := cmd.Flags().Arg(0); cmd.HasSubCommands() && word != "" {
		return unknownCommand(cmd, cmd.Flags().Args())
	}
	return exit.Usage(fmt.Errorf("%s: %w%s\n  see: %s --help", cmd.CommandPath(), err, nearFlag(cmd, err),
		cmd.CommandPath()))
}

var unknownFlag = regexp.MustCompile(`^unknown flag: --([^ =]+)`)

// nearFlag is the flag that a mistyped one means.
func nearFlag(cmd *cobra.Command, err error) string {
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	return suggest.DidYouMean(m[1], "--", known)
}
