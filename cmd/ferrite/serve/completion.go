package serve

import (
	"net"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
)

// knownHardware is all hardware types there are, those that most machines have first.
func knownHardware() []string {
	first := []string{"redfish", "ipmi"}
	return append(first, slices.DeleteFunc(bmc.Names(), func(n string) bool { return slices.Contains(first, n) })...)
}

// complete offers the values of flags that have few to a shell's completion.
func (s *settings) complete(c *cobra.Command) {
	types := knownHardware()
	s.offer("auth", "none", "basic", "token", "basic,token", "keystone")
	s.offer("discovery", types...)
	s.offer("hardware-types", types...)
	for flag, words := range s.words {
		register(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	register(c, "boot-interface", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		all, _ := net.Interfaces() // a shell has no place for an error
		for _, i := range all {
			names = append(names, i.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

func register(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // a mistake above, which the first run of any test would show
	}
}
