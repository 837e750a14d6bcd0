package redfish

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
)

const networkProtocolPath = managerPath + "/NetworkProtocol"

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

// hostConsole is ComputerSystem.SerialConsole.
type hostConsole struct {
	MaxConcurrentSessions int
	SSH                   consoleProtocol
}

type consoleProtocol struct {
	ServiceEnabled        bool
	Port                  int
	SharedWithManagerCLI  bool
	ConsoleEntryCommand   string `json:",omitempty"`
	HotKeySequenceDisplay string
}

// hostConsole is nil where the controller shows nothing of it.
func (s *Server) hostConsole() *hostConsole {
	if s.config.SSHPort == 0 || s.personality.makerConsole().types != nil {
		return nil
	}
	return &hostConsole{1, consoleProtocol{ServiceEnabled: true, Port: s.config.SSHPort,
		HotKeySequenceDisplay: "Press ~. to exit console"}}
}

// managerConsole is Manager.SerialConsole.
type managerConsole struct {
	ServiceEnabled        bool
	MaxConcurrentSessions int
	ConnectTypesSupported []string
}

func (s *Server) managerConsole() *managerConsole {
	types := s.personality.makerConsole().types
	if s.config.SSHPort == 0 || types == nil {
		return nil
	}
	return &managerConsole{len(types) > 0, min(len(types), 1), types}
}

// consoleRoutes are none where the machine has no console.
func (s *Server) consoleRoutes() []route {
	if s.config.SSHPort == 0 {
		return nil
	}
	return []route{{get, networkProtocolPath, closed, s.getNetworkProtocol}}
}

// networkProtocolLink is nil where the controller shows no services.
func (s *Server) networkProtocolLink() *link {
	if s.config.SSHPort == 0 {
		return nil
	}
	return &link{networkProtocolPath}
}

// networkProtocol is ManagerNetworkProtocol.v1_9_0.
type networkProtocol struct {
	common
	Status    status
	SSH, IPMI protocolPort
}

type protocolPort struct {
	ProtocolEnabled bool
	Port            int
}

func (s *Server) getNetworkProtocol(*http.Request) (reply, error) {
	return ok(networkProtocol{common: head(networkProtocolPath, "ManagerNetworkProtocol.v1_9_0.ManagerNetworkProtocol",
		"Manager Network Protocol"), Status: enabled(), SSH: protocolPort{true, s.config.SSHPort},
		IPMI: protocolPort{true, 623}})
}
