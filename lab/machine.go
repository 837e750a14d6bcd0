package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
)

// Machine is one machine of a lab with its controller.
type Machine struct {
	*qemu.Machine
	BMC      *redfish.Server
	Name     string
	URL      string // of the controller, inside the namespace
	Username string
	Password string
	// Settings are the keys of driver_info that a controller of this personality needs besides its address and
	// credentials.
	Settings map[string]any

	lines *history[qemu.Line]
}

// WaitLine waits for a console line that match accepts; lines said before
// count.
func (m *Machine) WaitLine(ctx context.Context, match func(qemu.Line) bool) (qemu.Line, error) {
	line, err := m.lines.wait(ctx, match)
	if err != nil {
		said := m.lines.all()
		last := "nothing yet"
		if len(said) > 0 {
			last = said[len(said)-1].Text
		}
		return line, fmt.Errorf("machine %s: wait for a console line (the last one was %q): %w", m.Name, last, err)
	}
	return line, nil
}

// Console lists the console lines remembered, oldest first.
func (m *Machine) Console() []qemu.Line { return m.lines.all() }

// addMachine makes the disks, the machine and its controller.
func (l *Lab) addMachine(ctx context.Context, i int, c MachineConfig) error {
	for _, d := range c.Disks {
		if err := qemu.CreateDisk(ctx, d); err != nil {
			return fmt.Errorf("machine %s: %w", c.Name, err)
		}
	}
	m := &Machine{Name: c.Name, Username: c.Username, Password: c.Password, lines: newHistory[qemu.Line](),
		Settings: c.Personality.DriverInfo()}
	var err error
	m.Machine, err = qemu.New(c.Spec, qemu.Options{
		Start: l.Network.Start,
		Log:   l.log,
		OnLine: func(line qemu.Line) {
			m.lines.add(line)
			if l.config.OnLine != nil {
				l.config.OnLine(c.Name, line)
			}
		},
		OnProcess: func(pid int) { l.recordMachine(c.Name, pid) },
	})
	if err != nil {
		return err
	}
	l.onClose(m.Close)
	m.BMC = redfish.New(redfish.Config{
		Machine: m.Machine, Username: c.Username, Password: c.Password,
		MediaClient: l.HTTPClient(),
		RAID:        redfish.RAID{DriveGiB: []int{100, 100, 100, 100}}, SSHPort: firstSSHPort + i,
		Log: l.log, Personality: c.Personality,
	})
	l.onClose(m.BMC.Close)
	m.URL, err = l.serveController(firstBMCPort+i, m.BMC, c.Personality)
	if err != nil {
		return fmt.Errorf("machine %s: controller: %w", c.Name, err)
	}
	if err := l.serveConsole(firstSSHPort+i, m, c); err != nil {
		return fmt.Errorf("machine %s: console: %w", c.Name, err)
	}
	l.Machines = append(l.Machines, m)
	spec := m.Spec()
	state := MachineState{Name: m.Name, UUID: spec.UUID, BMC: m.URL, Username: m.Username, Password: m.Password,
		Console: spec.ConsoleLog}
	for _, nic := range spec.NICs {
		state.MACs = append(state.MACs, nic.MAC)
	}
	return l.change(func(s *State) { s.Machines = append(s.Machines, state) })
}

// serveConsole runs the controller's SSH server, joined to the machine's serial line.
func (l *Lab) serveConsole(port int, m *Machine, c MachineConfig) error {
	console, err := sshconsole.New(sshconsole.Config{Line: m.Serial(), User: c.Username, Password: c.Password,
		CLI: c.Personality.ConsoleCLI(), Log: l.log})
	if err != nil {
		return err
	}
	listener, err := l.Network.Listen("tcp", fmt.Sprintf("%s:%d", l.Network.Gateway, port))
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := console.Serve(listener); err != nil {
			l.log.Error("SSH server ended", "address", listener.Addr(), "err", err)
		}
	}()
	l.onClose(func() error {
		err := errors.Join(listener.Close(), console.Close())
		<-done
		return err
	})
	return nil
}

// serveController runs a controller as serve does, behind TLS where its personality has its own.
func (l *Lab) serveController(port int, h http.Handler, p redfish.Personality) (url string, err error) {
	conf, err := p.TLSConfig()
	if err != nil {
		return "", err
	}
	if conf == nil {
		return l.serve(port, h)
	}
	address := fmt.Sprintf("%s:%d", l.Network.Gateway, port)
	listener, err := l.Network.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	l.run(h, tls.NewListener(listener, conf))
	return "https://" + address, nil
}

// serve runs a handler on the bridge's address, inside the namespace, until
// the lab closes, and returns its URL.
func (l *Lab) serve(port int, h http.Handler) (url string, err error) {
	address := fmt.Sprintf("%s:%d", l.Network.Gateway, port)
	listener, err := l.Network.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	l.run(h, listener)
	return "http://" + address, nil
}
