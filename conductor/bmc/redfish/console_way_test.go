package redfish

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/sshline"
)

func TestChooseConsole(t *testing.T) {
	off := false
	shown := func(command, keys string, shared bool) consoleProtocol {
		return consoleProtocol{ServiceEnabled: true, Port: 2200, ConsoleEntryCommand: command, HotKeySequenceDisplay: keys,
			SharedWithManagerCLI: shared}
	}
	dell, hpe := "Dell Inc.", "HPE"
	for name, c := range map[string]struct {
		facts  consoleFacts
		byIPMI bool
		want   consoleWay
		fails  string
	}{
		"the standard": {facts: consoleFacts{SSH: shown("", "Press ~. to exit", false), Manufacturer: "NVIDIA"},
			want: consoleWay{ssh: true, port: 2200}},
		"the standard, with a command": {facts: consoleFacts{SSH: shown("sol 1", "Press ESC ( to exit", true)},
			want: consoleWay{ssh: true, port: 2200, entry: sshline.Entry{Command: "sol 1", Escape: "\x1b("}}},
		"a command without its keys": {facts: consoleFacts{SSH: shown("sol 1", "Close the window", true)},
			fails: "HotKeySequenceDisplay names no keys"},
		"a command of two lines": {facts: consoleFacts{SSH: shown("sol\rreset", "ESC (", true)}, fails: "more than one line"},
		"a command without its keys, and IPMI": {facts: consoleFacts{SSH: shown("sol 1", "", true),
			ConnectTypes: []string{"SSH", "IPMI"}}, want: consoleWay{port: 623}},
		"a port out of range": {facts: consoleFacts{SSH: consoleProtocol{ServiceEnabled: true, Port: 70000}},
			want: consoleWay{ssh: true, port: 22}},
		"Dell shows nothing": {facts: consoleFacts{Manufacturer: dell},
			want: consoleWay{ssh: true, port: 22, entry: sshline.Entry{Command: "console com2", Escape: "\x1c"}}},
		"Dell, SSH elsewhere": {facts: consoleFacts{Manufacturer: dell, NetworkSSH: networkProtocol{Port: 2022}},
			want: consoleWay{ssh: true, port: 2022, entry: sshline.Entry{Command: "console com2", Escape: "\x1c"}}},
		"iLO": {facts: consoleFacts{Manufacturer: hpe, ConnectTypes: []string{"SSH", "IPMI", "Oem"}},
			want: consoleWay{ssh: true, port: 22, entry: sshline.Entry{Command: "vsp", Escape: "\x1b("}}},
		"iLO without SSH": {facts: consoleFacts{Manufacturer: hpe, ConnectTypes: []string{"SSH", "IPMI"},
			NetworkSSH: networkProtocol{ProtocolEnabled: &off}}, want: consoleWay{port: 623}},
		"iLO without SSH and IPMI": {facts: consoleFacts{Manufacturer: hpe, ConnectTypes: []string{"SSH", "IPMI"},
			NetworkSSH: networkProtocol{ProtocolEnabled: &off}, NetworkIPMI: networkProtocol{ProtocolEnabled: &off}},
			fails: "SSH is disabled on the BMC, and IPMI over LAN is disabled"},
		"iLO, IPMI asked for": {facts: consoleFacts{Manufacturer: hpe}, byIPMI: true, want: consoleWay{port: 623}},
		"XCC": {facts: consoleFacts{Manufacturer: "Lenovo"}, want: consoleWay{ssh: true, port: 22,
			entry: sshline.Entry{Command: "console 1", Free: "console kill 1", Escape: "\x1b("}}},
		"OpenBMC of old": {facts: consoleFacts{Model: "OpenBmc"}, want: consoleWay{ssh: true, port: 2200}},
		"MegaRAC": {facts: consoleFacts{Manufacturer: "NVIDIA", ConnectTypes: []string{"IPMI"},
			NetworkIPMI: networkProtocol{Port: 6230}}, want: consoleWay{port: 6230}},
		"SSH, nobody knows how": {facts: consoleFacts{Manufacturer: "A", ConnectTypes: []string{"SSH"}},
			fails: "neither its port nor its command"},
		"nothing": {fails: "shows no SerialConsole by SSH, nor one by IPMI"},
	} {
		got, err := chooseConsole(c.facts, c.byIPMI)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %+v, %v, want %q", name, got, err, c.fails)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

// Every row has keys that keep users of a console from the BMC's command line, and a source.
func TestConsoleRows(t *testing.T) {
	for _, r := range consoleRows() {
		if keys, err := sshline.ParseKeys(r.escape); r.command != "" && (err != nil || keys == "") || r.source == "" {
			t.Errorf("%+v: %q %v", r, keys, err)
		}
	}
}
