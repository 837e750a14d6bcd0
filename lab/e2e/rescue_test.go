package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// rescued adopts a machine that has an OS, boots it into rescue, logs in, and gives it back
// to its OS. The ramdisk's log can be read then.
func rescued(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if err := b.adopted(ctx, s, m, map[string]any{"rescue_interface": "agent"}); err != nil {
		return err
	}
	const password = "let me in, please"
	file := filepath.Join(b.dir, "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	if _, err := b.ferrite(ctx, s, "node", "rescue", m.Name, "--password-file", file, "--wait"); err != nil {
		return err
	}
	if _, err := s.Until(ctx, m.Name, "rescue"); err != nil {
		return err
	}
	address, err := leased(ctx, s, m)
	if err != nil {
		return err
	}
	hostKey, err := logsIn(ctx, s, address, password)
	if err != nil {
		return fmt.Errorf("rescue: %w", err)
	}
	ramdisk := starts(m)
	if err := b.commands(ctx, s, "node unrescue "+m.Name+" --wait"); err != nil {
		return err
	}
	if err := osIsUp(ctx, m, ramdisk); err != nil {
		return fmt.Errorf("unrescue: %w", err)
	}
	return b.logged(ctx, s, m, "Linux version ", "agent started", "host_key="+hostKey)
}

// logsIn wants a wrong password to be refused, and the right one to lead to a
// shell that sees the machine's own disk. It returns the host key's fingerprint.
func logsIn(ctx context.Context, s *site.Site, address, password string) (hostKey string, err error) {
	if client, _, err := login(ctx, s, address, password+"?"); err == nil {
		return "", errors.Join(errors.New("a wrong password is taken"), client.Close())
	} else if !strings.Contains(err.Error(), "unable to authenticate") {
		return "", fmt.Errorf("with a wrong password: %w", err)
	}
	client, hostKey, err := login(ctx, s, address, password)
	if err != nil {
		return "", err
	}
	defer client.Close()
	for _, c := range []struct {
		command, says string
		status        int
	}{
		{"cat /proc/partitions", " vda1\n", 0},
		{"cat /nowhere", "", 1},
		{"exit 7", "", 7},
	} {
		if err := runs(client, c.command, c.says, c.status); err != nil {
			return "", fmt.Errorf("%q by ssh: %w", c.command, err)
		}
	}
	return hostKey, nil
}

// leased is the address our DHCP gave to a machine.
func leased(ctx context.Context, s *site.Site, m *lab.Machine) (string, error) {
	var all nodeapi.Leases
	if err := s.Call(ctx, "GET", nodeapi.FerriteRoot+"/leases", nil, &all); err != nil {
		return "", err
	}
	mac := m.Spec().NICs[0].MAC
	i := slices.IndexFunc(all.Leases, func(l nodeapi.Lease) bool { return l.MAC == mac })
	if i < 0 {
		return "", fmt.Errorf("no lease of %s among %v", mac, all.Leases)
	}
	return all.Leases[i].IP, nil
}

// login opens a connection from the lab's network. The host key is made new in
// every boot: it is returned as its fingerprint, to be compared with the log's.
func login(ctx context.Context, s *site.Site,
	address, password string) (client *ssh.Client, hostKey string, err error) {
	at := net.JoinHostPort(address, "22")
	conn, err := s.Network.Dial(ctx, "tcp", at)
	if err != nil {
		return nil, "", err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	c, channels, requests, err := ssh.NewClientConn(conn, at, &ssh.ClientConfig{
		User: "rescue", Auth: []ssh.AuthMethod{ssh.Password(password)},
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			hostKey = ssh.FingerprintSHA256(key)
			return nil
		},
	})
	if err != nil {
		return nil, "", errors.Join(err, conn.Close())
	}
	return ssh.NewClient(c, channels, requests), hostKey, nil
}

// runs does one command and looks at its output and exit status.
func runs(client *ssh.Client, command, says string, status int) error {
	session, err := client.NewSession()
	if err != nil {
		return err
	}
	defer session.Close()
	said, err := session.Output(command)
	found := 0
	var exit *ssh.ExitError
	if errors.As(err, &exit) {
		found = exit.ExitStatus()
	} else if err != nil {
		return err
	}
	if found != status || !strings.Contains(string(said), says) {
		return fmt.Errorf("exit status %d and %q, expected %d and %q", found, said, status, says)
	}
	return nil
}

// logged wants the machine's latest ramdisk to have logged words, the first of
// them in the first line.
func (b *bed) logged(ctx context.Context, s *site.Site, m *lab.Machine, first string, words ...string) error {
	log, err := b.ferrite(ctx, s, "node", "logs", m.Name)
	if err != nil {
		return err
	}
	if line, _, _ := strings.Cut(log, "\n"); !strings.Contains(line, first) {
		return fmt.Errorf("the machine's log does not begin with %q: %s", first, line)
	}
	for _, w := range words {
		if !strings.Contains(log, w) {
			return fmt.Errorf("the machine's log of %d bytes does not say %q", len(log), w)
		}
	}
	return nil
}
