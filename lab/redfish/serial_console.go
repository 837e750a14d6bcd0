package redfish

import (
	"strings"

	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
)

// makerConsole is how a maker's controllers show and offer the machine's console.
type makerConsole struct {
	manufacturer string // the personality's begins so
	cli          sshconsole.CLI
	types        []string // ConnectTypesSupported of the manager; nil: SerialConsole of the system shows it
}

// makerConsoles are as the makers' manuals and recorded controllers have them: an iDRAC 9 shows no types at all, an iLO
// SSH, IPMI and its own, a MegaRAC IPMI.
func makerConsoles() []makerConsole {
	return []makerConsole{
		{"Dell", sshconsole.CLI{Prompt: "racadm>>", Command: "console com2", Escape: "\x1c"}, []string{}},
		{"HPE", sshconsole.CLI{Prompt: "</>hpiLO->", Command: "vsp", Escape: "\x1b("}, []string{"SSH", "IPMI", "Oem"}},
		{"Lenovo", sshconsole.CLI{Prompt: "system>", Command: "console 1", Free: "console kill 1", Escape: "\x1b("},
			[]string{"IPMI", "SSH"}},
		{"Supermicro", sshconsole.CLI{Prompt: "->", Command: "start /system1/sol1", Free: "stop /system1/sol1",
			Escape: "\x1bT"}, []string{"SSH", "IPMI"}},
		{"American Megatrends", sshconsole.CLI{}, []string{"IPMI"}},
	}
}

func (p Personality) makerConsole() makerConsole {
	for _, m := range makerConsoles() {
		if strings.HasPrefix(p.complete().Manufacturer, m.manufacturer) {
			return m
		}
	}
	return makerConsole{}
}

// ConsoleCLI is the command line of the controller's SSH server.
func (p Personality) ConsoleCLI() sshconsole.CLI { return p.makerConsole().cli }

// consoleParts are the parts that show the console, none where the machine has none.
func (s *Server) consoleParts() []string {
	switch {
	case s.config.SSHPort == 0:
		return nil
	case s.personality.makerConsole().types == nil:
		return []string{"console", "console-of-system"}
	}
	return []string{"console", "console-of-manager"}
}
