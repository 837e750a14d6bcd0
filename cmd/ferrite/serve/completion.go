package serve

import (
	"net"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// knownHardware is all hardware types there are, those that most machines have first.
func knownHardware() []string {
	first := []string{"redfish", "ipmi"}
	return append(first, slices.DeleteFunc(bmc.Names(), func(n string) bool { return slices.Contains(first, n) })...)
}

// complete offers the values of flags that have few to a shell's completion.
func complete(c *cobra.Command) {
	types := knownHardware()
	for flag, values := range map[string][]string{
		"auth":                {"none", "basic", "token", "basic,token", "keystone"},
		"check-image":         imageCheckChoices,
		"deploy-logs-collect": collectChoices,
		"dhcp":                bootserver.DHCPModes(),
		"discovery":           types,
		"fast-track-agents":   agentChoices,
		"hardware-types":      types,
		"kexec":               kexecChoices,
		"log-level":           {"debug", "info", "warn", "error"},
		"log-format":          {"text", "json"},
	} {
		register(c, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, kind := range node.InterfaceKinds() {
		fake, _ := node.HardwareTypeByName("fake-hardware") // which takes them all
		register(c, defaultInterfaceFlag(kind),
			cobra.FixedCompletions(fake.Interfaces[kind], cobra.ShellCompDirectiveNoFileComp))
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
