package redfish

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrite-metal/ferrite/conductor/bmc/sshline"
)

// consoleProtocol is SerialConsoleProtocol of ComputerSystem (since v1_13_0).
type consoleProtocol struct {
	ServiceEnabled        bool
	Port                  int
	SharedWithManagerCLI  bool
	ConsoleEntryCommand   string
	HotKeySequenceDisplay string
}

// networkProtocol is a protocol of ManagerNetworkProtocol.
type networkProtocol struct {
	ProtocolEnabled *bool
	Port            int
}

// consoleFacts are a BMC's properties about its machine's serial console.
type consoleFacts struct {
	SSH, IPMI                     consoleProtocol // of the system
	Manufacturer, Model, Firmware string          // of the manager
	ConnectTypes                  []string        // of the manager's SerialConsole, where that is enabled
	NetworkSSH, NetworkIPMI       networkProtocol // of the manager's services
}

// consoleRow is a maker's BMC with a console behind a command, or a port, that Redfish does not show.
type consoleRow struct {
	manufacturer, model string // as in QuirkRow; the model is the manager's
	port                int    // 0: the port of the SSH service
	command, free       string // sshline.Entry
	escape              string // as sshline.ParseKeys takes it
	source              string
}

// consoleRows is the table. A BMC that shows SerialConsole of its system needs no row.
func consoleRows() []consoleRow {
	const (
		dell   = "Dell iDRAC9 User's Guide: console com2, and ^\\ as the default quit key, in \"SOL using SSH\""
		hpe    = "HPE iLO 5 and 6 scripting and CLI guide: VSP, left by ESC ("
		lenovo = "Lenovo XClarity Controller User's Guide, CLI: console 1, console kill 1, left by ESC ("
		smash  = "Supermicro BMC User's Guide, SMASH: start /system1/sol1, stop /system1/sol1, left by ESC T"
		obmc   = "openbmc docs/console.md: the host's console is SSH port 2200"
	)
	return []consoleRow{
		{manufacturer: "dell*", command: "console com2", escape: `^\`, source: dell},
		{manufacturer: "hpe*", command: "vsp", escape: "ESC (", source: hpe},
		{manufacturer: "hewlett*", command: "vsp", escape: "ESC (", source: hpe},
		{manufacturer: "lenovo*", command: "console 1", free: "console kill 1", escape: "ESC (", source: lenovo},
		{manufacturer: "supermicro*", command: "start /system1/sol1", free: "stop /system1/sol1", escape: "ESC T",
			source: smash},
		{manufacturer: "super micro*", command: "start /system1/sol1", free: "stop /system1/sol1", escape: "ESC T",
			source: smash},
		{model: "openbmc*", port: 2200, source: obmc},
	}
}

// consoleWay is how the console of a machine is reached: by SSH, or by serial over LAN.
type consoleWay struct {
	ssh   bool
	port  int
	entry sshline.Entry
}

// The standard ports.
const (
	sshPort  = 22
	ipmiPort = 623
)

// chooseConsole decides by the BMC's facts. SSH comes first; byIPMI leaves it out. The error is permanent, and lists
// the properties that were missing.
func chooseConsole(f consoleFacts, byIPMI bool) (consoleWay, error) {
	why := "the BMC shows no SerialConsole by SSH"
	if byIPMI {
		why = "console_interface asks for IPMI"
	} else if way, refused, ok := sshWay(f); ok {
		return way, nil
	} else if refused != "" {
		why = refused
	}
	if byIPMI || f.IPMI.ServiceEnabled || slices.Contains(f.ConnectTypes, "IPMI") {
		if enabled := f.NetworkIPMI.ProtocolEnabled; enabled == nil || *enabled {
			return consoleWay{port: or(f.IPMI.Port, f.NetworkIPMI.Port, ipmiPort)}, nil
		}
		why += ", and IPMI over LAN is disabled on it: enable one of the two in the BMC's settings"
	} else {
		why += ", nor one by IPMI: enable the serial console in the BMC's settings"
	}
	return consoleWay{}, &NoConsoleError{why}
}

// NoConsoleError is a machine with a BMC that shows no way to its serial console.
type NoConsoleError struct{ why string }

func (e *NoConsoleError) Error() string {
	return "the machine's serial console cannot be reached: " + e.why
}

// Permanent says that trying again does not help.
func (e *NoConsoleError) Permanent() bool { return true }

// String is for people: SSH, port 22, by the command vsp.
func (w consoleWay) String() string {
	switch {
	case !w.ssh:
		return fmt.Sprintf("serial over LAN, port %d", w.port)
	case w.entry.Command == "":
		return fmt.Sprintf("SSH, port %d", w.port)
	}
	return fmt.Sprintf("SSH, port %d, by the command %s", w.port, w.entry.Command)
}

// sshWay is the way by SSH. If the BMC shows SSH in a form that cannot be used, refused is the reason.
func sshWay(f consoleFacts) (way consoleWay, refused string, ok bool) {
	if s := f.SSH; s.ServiceEnabled {
		way = consoleWay{ssh: true, port: or(s.Port, sshPort), entry: sshline.Entry{Command: label(s.ConsoleEntryCommand)}}
		if !s.SharedWithManagerCLI && s.ConsoleEntryCommand == "" {
			return way, "", true
		}
		keys, found := sshline.KeysIn(label(s.HotKeySequenceDisplay))
		way.entry.Escape = keys
		switch {
		case strings.ContainsFunc(s.ConsoleEntryCommand, unicode.IsControl):
			return consoleWay{}, "its ConsoleEntryCommand has more than one line", false
		case s.ConsoleEntryCommand != "" && found:
			return way, "", true
		case s.ConsoleEntryCommand != "":
			return consoleWay{}, "its HotKeySequenceDisplay names no keys, so users of the console could not be kept from the " +
				"BMC's command line", false
		}
	}
	rows := consoleRows()
	i := slices.IndexFunc(rows, func(r consoleRow) bool {
		return fits(r.manufacturer, f.Manufacturer) && fits(r.model, f.Model)
	})
	if i < 0 {
		if slices.Contains(f.ConnectTypes, "SSH") {
			return consoleWay{}, "the BMC has a console by SSH, but shows neither its port nor its command", false
		}
		return consoleWay{}, "", false
	}
	if enabled := f.NetworkSSH.ProtocolEnabled; enabled != nil && !*enabled {
		return consoleWay{}, "SSH is disabled on the BMC", false
	}
	keys, err := sshline.ParseKeys(rows[i].escape)
	if err != nil && rows[i].command != "" {
		return consoleWay{}, err.Error(), false
	}
	return consoleWay{ssh: true, port: or(rows[i].port, f.NetworkSSH.Port, sshPort),
		entry: sshline.Entry{Command: rows[i].command, Free: rows[i].free, Escape: keys}}, "", true
}

// or is the first port that is one.
func or(ports ...int) int {
	for _, p := range ports {
		if p > 0 && p <= 65535 {
			return p
		}
	}
	return 0
}
