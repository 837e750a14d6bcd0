package redfish_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole/sshconsoletest"
)

// startConsole is the SSH server of a controller with a personality.
func startConsole(t *testing.T, p lab.Personality, address string) *sshconsoletest.Board {
	t.Helper()
	return sshconsoletest.Start(t, address,
		sshconsole.Config{User: redfishtest.User, Password: redfishtest.Password, CLI: p.ConsoleCLI()})
}

func readLine(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got, buf := "", make([]byte, 256)
	for !strings.Contains(got, want) {
		n, err := r.Read(buf)
		if got += string(buf[:n]); err != nil {
			t.Fatalf("read %q, want %q: %v", got, want, err)
		}
	}
}

// busy reads the machine's greeting, unless another session has the console.
func busy(r io.Reader) bool {
	got, buf := "", make([]byte, 256)
	for !strings.Contains(got, sshconsoletest.Hello) {
		n, err := r.Read(buf)
		if got += string(buf[:n]); err != nil {
			return true
		}
	}
	return false
}

// TestConsoleOfMakers: the console of each maker's BMC is found and used, and given back.
func TestConsoleOfMakers(t *testing.T) {
	for _, name := range []string{lab.Ideal, "idrac9", "ilo6", "xcc", "supermicro-x13", "openbmc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := lab.FindPersonality(name)
			if err != nil {
				t.Fatal(err)
			}
			console := startConsole(t, p, "")
			b := newBench(t, func(c *lab.Config) { c.SSHPort, c.Personality = console.Port(t), p })
			n := b.node(redfishtest.Password)
			for key, value := range p.DriverInfo() {
				n.DriverInfo[key] = value
			}
			d := newDriver(t, redfish.Options{})
			for range 2 {
				line, err := d.OpenConsole(t.Context(), n, true)
				for end := time.Now().Add(time.Minute); err == nil && busy(line) && time.Now().Before(end); {
					line.Close()
					line, err = d.OpenConsole(t.Context(), n, true) // the line before has not quite ended
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := line.Write([]byte("typed|")); err != nil {
					t.Fatal(err)
				}
				readLine(t, line, "typed|")
				if err := line.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestConsoleByIPMI: a BMC with IPMI alone, and a node with a console_interface for it, get serial over LAN at the
// address of redfish_address.
func TestConsoleByIPMI(t *testing.T) {
	ami, err := lab.FindPersonality("ami")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *lab.Config, n *node.Node){
		"IPMI alone": func(c *lab.Config, _ *node.Node) { c.Personality = ami },
		"asked for": func(_ *lab.Config, n *node.Node) {
			n.Interfaces = map[string]string{"console": "ipmitool-socat"}
		},
	} {
		var got node.Node
		d := newDriver(t,
			redfish.Options{SOLConsole: func(_ context.Context, n node.Node, _ bool) (io.ReadWriteCloser, error) {
				got = n
				ours, _ := net.Pipe()
				return ours, nil
			}})
		var n node.Node
		b := newBench(t, func(c *lab.Config) { change(c, &n) })
		interfaces := n.Interfaces
		n = b.node(redfishtest.Password)
		n.Interfaces = interfaces
		n.DriverInfo["ipmi_address"] = "192.0.2.66" // must not get redfish's password
		if err := d.ValidateConsole(n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		line, err := d.OpenConsole(t.Context(), n, false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		line.Close()
		if i := got.DriverInfo; i["ipmi_address"] != "127.0.0.1" || i["ipmi_port"] != 623 ||
			i["ipmi_username"] != redfishtest.User || i["ipmi_password"] != redfishtest.Password {
			t.Errorf("%s: serial over LAN with %v", name, i)
		}
	}
}

// TestConsoleHostKey: the key of the first console is trusted from then on, through restarts of the conductor's memory.
// Another key is refused with the way to accept it. A key that an operator has set takes precedence.
func TestConsoleHostKey(t *testing.T) {
	first := startConsole(t, lab.Personality{}, "")
	b := newBench(t, func(c *lab.Config) { c.SSHPort = first.Port(t) })
	c := newConductor(t)
	c.do("POST", "", `{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"`+b.URL+`","redfish_username":"`+
		redfishtest.User+`","redfish_password":"`+redfishtest.Password+`"}}`)
	open := func() error {
		line, err := c.engine.OpenConsole(t.Context(), "n1", false)
		if err == nil {
			readLine(t, line, sshconsoletest.Hello)
			err = line.Close()
		}
		return err
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	n, err := c.engine.Node(t.Context(), "n1")
	if want := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(first.HostKey()))); err != nil ||
		n.ConsoleKey(first.Address) != want {
		t.Errorf("the key %q is kept, want %q: %v", n.ConsoleKey(first.Address), want, err)
	}
	first.Stop()
	second := startConsole(t, lab.Personality{}, first.Address)
	fingerprint := ssh.FingerprintSHA256(second.HostKey())
	var permanent interface{ Permanent() bool }
	if err := open(); err == nil || !errors.As(err, &permanent) || !permanent.Permanent() ||
		!strings.Contains(err.Error(), "ferrite node set n1 --driver-info redfish_ssh_host_key="+fingerprint) ||
		strings.Contains(err.Error(), redfishtest.Password) {
		t.Errorf("another key: %v", err)
	}
	if second.Typed() != "" {
		t.Errorf("%q was typed", second.Typed())
	}
	c.do("PATCH", "/n1", `[{"op":"add","path":"/driver_info/redfish_ssh_host_key","value":"`+fingerprint+`"},`+
		`{"op":"add","path":"/driver_info/redfish_password","value":"`+redfishtest.Password+`"}]`)
	if err := open(); err != nil {
		t.Errorf("the key was accepted: %v", err)
	}
	c.do("PATCH", "/n1", `[{"op":"remove","path":"/driver_info/redfish_ssh_host_key"},`+
		`{"op":"add","path":"/driver_info/redfish_password","value":"`+redfishtest.Password+`"}]`)
	if err := open(); err != nil {
		t.Errorf("the accepted key is kept: %v", err)
	}
}

// TestConsoleRefused: a console that cannot be opened is an error with the reason, and without the password.
func TestConsoleRefused(t *testing.T) {
	console := startConsole(t, lab.Personality{}, "")
	b := newBench(t, func(c *lab.Config) { c.SSHPort = console.Port(t) })
	d := newDriver(t, redfish.Options{})
	for name, c := range map[string]struct {
		change func(n *node.Node)
		want   string
	}{
		"a fingerprint that is none": {func(n *node.Node) { n.DriverInfo["redfish_ssh_host_key"] = "SHA256:x" },
			"redfish_ssh_host_key cannot be read"},
		"another interface": {func(n *node.Node) { n.Interfaces = map[string]string{"console": "redfish-graphical"} },
			"set console_interface to redfish-serial or no-console"},
	} {
		n := b.node(redfishtest.Password)
		c.change(&n)
		if err := d.ValidateConsole(n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	without := newBench(t, func(c *lab.Config) { c.SSHPort = 0 })
	if err := d.SetConsole(t.Context(), without.node(redfishtest.Password), true); err == nil ||
		!strings.Contains(err.Error(), "shows no SerialConsole by SSH, nor one by IPMI") {
		t.Errorf("no console: %v", err)
	}
	other := sshconsoletest.Start(t, "", sshconsole.Config{User: "root", Password: "other"})
	refusing := newBench(t, func(c *lab.Config) { c.SSHPort = other.Port(t) })
	if _, err := d.OpenConsole(t.Context(), refusing.node(redfishtest.Password), false); err == nil ||
		!strings.Contains(err.Error(), "give the user the right to SSH") ||
		strings.Contains(err.Error(), redfishtest.Password) {
		t.Errorf("credentials: %v", err)
	}
}
