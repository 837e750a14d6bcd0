package redfish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"

	"github.com/ferrite-metal/ferrite/conductor/bmc/controller"
	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/bmc/sshline"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

const hostKeyKey = "redfish_ssh_host_key"

// serialInterface is our name of the interface: SSH, or else serial over LAN. The others are Ironic's names of consoles
// by serial over LAN.
const serialInterface = "redfish-serial"

func consoleInterfaces() []string {
	return []string{serialInterface, "ipmitool-socat", "ipmitool-shellinabox"}
}

// ValidateConsole refuses console interfaces that are not serial, and a host key with an invalid form.
func (d *Driver) ValidateConsole(n node.Node) error {
	if name := n.Interfaces["console"]; name != "" && !slices.Contains(consoleInterfaces(), name) {
		return node.Refuse(node.Invalid,
			"console_interface %s of node %s is no serial console: set console_interface to %s or no-console",
			name, n.UUID, serialInterface)
	}
	if _, err := hostKey(n, ""); err != nil {
		return err
	}
	return d.Validate(n)
}

// SetConsole looks whether the BMC has a console that can be reached; the conductor opens it.
func (d *Driver) SetConsole(ctx context.Context, n node.Node, on bool) error {
	if !on {
		return nil
	}
	_, err := d.consoleWay(ctx, n)
	return err
}

// ConsoleWay is how the console would be reached, for people. It opens nothing. The error is a *NoConsoleError where
// the BMC shows no way.
func (d *Driver) ConsoleWay(ctx context.Context, n node.Node) (string, error) {
	way, err := d.consoleWay(ctx, n)
	if err != nil {
		return "", err
	}
	return way.String(), nil
}

// Console is how clients of Ironic reach the console: a path of the conductor's API.
func (d *Driver) Console(_ context.Context, n node.Node) (map[string]any, error) {
	return map[string]any{"type": "websocket", "url": "/ferrite/v1/nodes/" + n.UUID + "/console"}, nil
}

func (d *Driver) consoleWay(ctx context.Context, n node.Node) (way consoleWay, err error) {
	name := n.Interfaces["console"]
	byIPMI := slices.Contains(consoleInterfaces(), name) && name != serialInterface
	err = d.call(ctx, n, "find the serial console", func(s *session) error {
		facts, err := s.consoleFacts()
		if err == nil {
			way, err = chooseConsole(facts, byIPMI)
		}
		return err
	})
	return way, err
}

// consoleFacts reads the facts from the system, its manager and the manager's services.
func (s *session) consoleFacts() (f consoleFacts, err error) {
	sys, err := s.read()
	if err != nil {
		return f, err
	}
	var system struct {
		Manufacturer  string
		SerialConsole struct{ SSH, IPMI consoleProtocol }
		Links         struct{ ManagedBy []reference }
	}
	if err := s.reread(sys, &system); err != nil {
		return f, err
	}
	f.SSH, f.IPMI, f.Manufacturer = system.SerialConsole.SSH, system.SerialConsole.IPMI, label(system.Manufacturer)
	if len(system.Links.ManagedBy) == 0 {
		return f, nil
	}
	var m struct {
		Manufacturer, Model, FirmwareVersion string
		SerialConsole                        struct {
			ServiceEnabled        bool
			ConnectTypesSupported []string
		}
		NetworkProtocol reference
	}
	if _, err := s.get(system.Links.ManagedBy[0].Path, &m); err != nil {
		return f, s.optional("the manager", err)
	}
	f.Manufacturer, f.Model = cmp.Or(f.Manufacturer, label(m.Manufacturer)), label(m.Model)
	if m.SerialConsole.ServiceEnabled {
		f.ConnectTypes = m.SerialConsole.ConnectTypesSupported
	}
	if m.NetworkProtocol.Path == "" {
		return f, nil
	}
	var p struct{ SSH, IPMI networkProtocol }
	if _, err := s.get(m.NetworkProtocol.Path, &p); err != nil {
		return f, s.optional("the manager's network services", err)
	}
	f.NetworkSSH, f.NetworkIPMI = p.SSH, p.IPMI
	return f, nil
}

// hostKey is the BMC's expected key at an address: the key that an operator has set, or else the key of its first
// console.
func hostKey(n node.Node, address string) (sshline.HostKey, error) {
	written, err := driverinfo.Text(n, hostKeyKey)
	if err != nil {
		return sshline.HostKey{}, err
	}
	key, err := sshline.ParseHostKey(cmp.Or(written, n.ConsoleKey(address)))
	if err != nil {
		return sshline.HostKey{}, driverinfo.Wrong(hostKeyKey, "cannot be read: %v", err)
	}
	return key, nil
}

// OpenConsole connects with the serial console, by SSH with the node's credentials, or by serial over LAN where the BMC
// has that alone. It is a connection of its own: the driver's session is free meanwhile. take ends the console of
// another session, where the BMC can.
func (d *Driver) OpenConsole(ctx context.Context, n node.Node, take bool) (io.ReadWriteCloser, error) {
	t, err := parse(n)
	if err != nil {
		return nil, err
	}
	way, err := d.consoleWay(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("open the console: %w", err)
	}
	u, err := url.Parse(t.base)
	if err != nil {
		return nil, err
	}
	if !way.ssh {
		if d.solConsole == nil {
			return nil, broken("open the console: the BMC has it by IPMI alone, which is not built in")
		}
		return d.solConsole(ctx, solNode(n, u.Hostname(), way.port, t), take)
	}
	address := net.JoinHostPort(u.Hostname(), strconv.Itoa(way.port))
	key, err := hostKey(n, address)
	if err != nil {
		return nil, err
	}
	line, err := sshline.Dial(ctx, sshline.Config{Address: address, User: t.user, Password: t.password, HostKey: key,
		Legacy: t.tls == tlsLegacy, Entry: way.entry, Dialer: d.dialer}, take)
	if err != nil {
		return nil, fmt.Errorf("open the console: %w", explainSSH(n, t, err))
	}
	return line, nil
}

// explainSSH adds the remedy.
func explainSSH(n node.Node, t target, err error) error {
	var changed *sshline.ChangedKeyError
	switch {
	case errors.As(err, &changed):
		return fmt.Errorf("%w: if the BMC was replaced or reset, accept its key with: ferrite node set %s "+
			"--driver-info %s=%s "+
			"--driver-info-file redfish_password=FILE; if not, another host answers in its place", err,
			cmp.Or(n.Name, n.UUID), hostKeyKey, changed.Found)
	case errors.Is(err, sshline.ErrCredentials):
		return &controller.CredentialsError{Prefix: "redfish", User: t.user,
			Cause: fmt.Errorf("%w: give the user the right to SSH and to the serial console", err)}
	}
	return err
}

// solNode is the node in the form of the driver ipmi. Its own ipmi_address is not used: the password goes to the BMC of
// redfish_address alone.
func solNode(n node.Node, host string, port int, t target) node.Node {
	info := maps.Clone(n.DriverInfo)
	info["ipmi_address"], info["ipmi_port"] = host, port
	info["ipmi_username"], info["ipmi_password"] = t.user, t.password
	n.DriverInfo = info
	return n
}
