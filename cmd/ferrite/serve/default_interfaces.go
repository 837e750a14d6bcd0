package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// defaultInterfaceFlag is the setting of a kind; Ironic's has underscores.
func defaultInterfaceFlag(kind string) string { return "default-" + kind + "-interface" }

func (c *Config) interfaceFlags(s *settings) {
	c.DefaultInterfaces = map[string]string{}
	fake, _ := node.HardwareTypeByName("fake-hardware") // which has them all
	for _, kind := range node.InterfaceKinds() {
		such := ""
		if example := exampleInterface(kind); example != "" {
			such = ", such as " + example
		}
		set := func(name string) {
			if c.DefaultInterfaces[kind] = name; name == "" {
				delete(c.DefaultInterfaces, kind)
			}
		}
		s.wordVar(set, defaultInterfaceFlag(kind), "", kind+" `interface` of new nodes that name none"+such+
			"; without it, the default of their hardware type")
		s.offer(defaultInterfaceFlag(kind), fake.Interfaces[kind]...)
	}
}

// exampleInterface is an interface that most hardware types support beside their default; "" for none.
func exampleInterface(kind string) string {
	redfish, _ := node.HardwareTypeByName("redfish")
	if all := redfish.Interfaces[kind]; len(all) > 1 && kind != "console" && kind != "boot" {
		return all[1]
	}
	return map[string]string{"boot": "http-ipxe", "console": "no-console"}[kind]
}

// checkDefaultInterfaces refuses an interface that one of the enabled hardware types does not support, as Ironic does:
// a node of that type would get another interface than the operator chose.
func (c *Config) checkDefaultInterfaces() error {
	for _, kind := range node.InterfaceKinds() {
		name := c.DefaultInterfaces[kind]
		if name == "" {
			continue
		}
		var lacking []string
		common := []string(nil)
		for _, enabled := range c.HardwareTypes {
			hw, known := node.HardwareTypeByName(enabled)
			if !known {
				continue // which is refused by its own check
			}
			if !hw.Supports(kind, name) {
				lacking = append(lacking, enabled)
			}
			if common == nil {
				common = slices.Clone(hw.Interfaces[kind])
			}
			common = slices.DeleteFunc(common, func(one string) bool { return !hw.Supports(kind, one) })
		}
		if len(lacking) == 0 {
			continue
		}
		say := "leave it out"
		if len(common) > 0 {
			say = "say " + strings.Join(common, " or ")
		}
		return fmt.Errorf("--%s %q: it is no %s interface of %s; %s, or leave these out of --hardware-types",
			defaultInterfaceFlag(kind), name, kind, strings.Join(lacking, ", "), say)
	}
	return nil
}
