package sshline

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
)

// Config is how a serial line is reached.
type Config struct {
	Address        string // host:port
	User, Password string
	HostKey        HostKey
	Legacy         bool // algorithms with known weaknesses too, for BMCs of old firmware
	Entry          Entry
	Dialer         dial.Dialer
}

// Entry is the way from the BMC's command line to the console. The zero Entry is a connection that is the console
// itself.
type Entry struct {
	Command string // that connects with the console
	Free    string // that ends the console of another session; "" where the BMC has none
	Escape  string // keys that lead back to the command line, as bytes
}

// ErrCredentials is a BMC that does not let the user in by SSH.
var ErrCredentials = errors.New("the BMC's SSH server refuses the user or the password")

// keepAlive finds out that a BMC is gone, within a minute. SSH's own keepalives are not answered by all BMCs.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// Dial connects with the console. take ends the console of another session, where the BMC has a command for that. The
// error is a *ChangedKeyError when the BMC has another key than the known one, and ErrCredentials when it refuses the
// login.
func Dial(ctx context.Context, c Config, take bool) (*Line, error) {
	conn, err := c.Dialer.DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("SSH: %w", err)
	}
	if err := dial.KeepAlive(conn, keepAlive); err != nil {
		return nil, errors.Join(fmt.Errorf("SSH: %w", err), closed(conn))
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	l := &Line{address: c.Address, guard: guard{keys: c.Entry.Escape}}
	conf := c.client(func(key ssh.PublicKey) error {
		l.hostKey = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
		return c.HostKey.check(c.Address, key)
	})
	client, channels, requests, err := ssh.NewClientConn(conn, c.Address, conf)
	if err != nil {
		return nil, errors.Join(explain(ctx, err), closed(conn))
	}
	l.client = ssh.NewClient(client, channels, requests)
	if err := l.open(ctx, c.Entry, take); err != nil {
		return nil, errors.Join(explain(ctx, err), closed(l.client))
	}
	return l, nil
}

func closed(c interface{ Close() error }) error {
	if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// client makes the SSH client. Many BMCs ask for the password as a question (keyboard-interactive, RFC 4256).
func (c Config) client(check func(ssh.PublicKey) error) *ssh.ClientConfig {
	conf := &ssh.ClientConfig{User: c.User,
		Auth: []ssh.AuthMethod{ssh.Password(c.Password), ssh.KeyboardInteractive(c.answer)},
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			return check(key)
		}}
	algorithms := ssh.SupportedAlgorithms()
	if c.Legacy {
		weak := ssh.InsecureAlgorithms()
		algorithms.HostKeys = slices.Concat(algorithms.HostKeys, weak.HostKeys)
		conf.KeyExchanges = slices.Concat(algorithms.KeyExchanges, weak.KeyExchanges)
		conf.Ciphers = slices.Concat(algorithms.Ciphers, weak.Ciphers)
		conf.MACs = slices.Concat(algorithms.MACs, weak.MACs)
	}
	conf.HostKeyAlgorithms = c.HostKey.algorithms(algorithms.HostKeys)
	return conf
}

// answer gives the password to questions that hide their answer.
func (c Config) answer(_, _ string, questions []string, echoes []bool) ([]string, error) {
	answers := make([]string, len(questions))
	for i, shown := range echoes {
		if shown {
			return nil, fmt.Errorf("the BMC's SSH server asks %.60q, expected a question for the password alone", questions[i])
		}
		answers[i] = c.Password
	}
	return answers, nil
}

// explain gives a type to errors of x/crypto/ssh that differ only in their text.
func explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	var changed *ChangedKeyError
	switch {
	case errors.As(err, &changed):
		return changed
	case strings.Contains(err.Error(), "unable to authenticate"):
		return ErrCredentials
	case strings.Contains(err.Error(), "no common algorithm"):
		return fmt.Errorf("SSH: the BMC has outdated algorithms alone: update its firmware, or set driver_info "+
			"redfish_tls to legacy: %w", err)
	}
	return fmt.Errorf("SSH: %w", err)
}
