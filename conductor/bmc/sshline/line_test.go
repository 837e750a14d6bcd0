package sshline_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/ferrite-metal/ferrite/conductor/bmc/sshline"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole/sshconsoletest"
)

const password = "secret-of-the-bmc"

type board struct {
	*sshconsoletest.Board
	config sshline.Config
}

func newBoard(t *testing.T, cli sshconsole.CLI, questions bool) *board {
	t.Helper()
	b := &board{Board: sshconsoletest.Start(t, "",
		sshconsole.Config{User: "admin", Password: password, CLI: cli, Questions: questions})}
	b.config = sshline.Config{Address: b.Address, User: "admin", Password: password, Dialer: &net.Dialer{},
		Entry: sshline.Entry{Command: cli.Command, Free: cli.Free, Escape: cli.Escape}}
	return b
}

func (b *board) dial(t *testing.T, take bool) *sshline.Line {
	t.Helper()
	l, err := sshline.Dial(t.Context(), b.config, take)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// free dials until the console that another line has left is free.
func (b *board) free(t *testing.T) *sshline.Line {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		l := b.dial(t, false)
		buf := make([]byte, 1000)
		got, n, err := "", 0, error(nil)
		for err == nil && !strings.Contains(got, sshconsoletest.Hello) {
			n, err = l.Read(buf)
			got += string(buf[:n])
		}
		if err == nil {
			return l
		}
		if l.Close(); !strings.Contains(err.Error(), "in use") || time.Now().After(end) {
			t.Fatalf("read %q: %v", got, err)
		}
	}
}

func until(t *testing.T, r io.Reader, want string) (got string) {
	t.Helper()
	buf := make([]byte, 100)
	for !strings.Contains(got, want) {
		n, err := r.Read(buf)
		if got += string(buf[:n]); err != nil {
			t.Fatalf("read %q, want %q: %v", got, want, err)
		}
	}
	return got
}

var xcc = sshconsole.CLI{Prompt: "system>", Command: "console 1", Free: "console kill 1", Escape: "\x1b("}

// TestLine: each way leads to the machine, with both ways to log in, and gives the console back at the end.
func TestLine(t *testing.T) {
	t.Parallel()
	for name, cli := range map[string]sshconsole.CLI{"direct": {}, "command line": xcc,
		"no command to free it": {Prompt: "</>hpiLO->", Command: "vsp", Escape: "\x1b("}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, questions := range []bool{false, true} {
				b := newBoard(t, cli, questions)
				for range 2 {
					l := b.free(t)
					if _, err := l.Write([]byte("typed\x00\xff")); err != nil {
						t.Fatal(err)
					}
					until(t, l, "typed\x00\xff")
					address, key := l.HostKey()
					if want := string(ssh.MarshalAuthorizedKey(b.HostKey())); address != b.config.Address || key+"\n" != want {
						t.Errorf("the host key of %s is %s, want %s", address, key, want)
					}
					closing(t, l)
				}
			}
		})
	}
}

// closing ends a line while it is read, as a console does.
func closing(t *testing.T, l *sshline.Line) {
	t.Helper()
	read := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, l); read <- err }()
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	<-read
}

// TestEscape: keys that lead to the command line do not reach it, however they are typed.
func TestEscape(t *testing.T) {
	t.Parallel()
	b := newBoard(t, xcc, false)
	l := b.dial(t, false)
	for _, typed := range []string{"a\x1b", "(", "((exit\r", "b|"} {
		if _, err := l.Write([]byte(typed)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, l, "b|")
	if got := b.Typed(); got != "a\x1bexit\rb|" {
		t.Errorf("the machine got %q", got)
	}
}

// TestTaken: a console in use is refused in the BMC's words, and taken over with its command.
func TestTaken(t *testing.T) {
	t.Parallel()
	b := newBoard(t, xcc, false)
	first := b.dial(t, false)
	until(t, first, sshconsoletest.Hello)
	second := b.dial(t, false)
	if _, err := io.Copy(io.Discard, second); err == nil || !strings.Contains(err.Error(), "in use by another session") {
		t.Errorf("in use: %v", err)
	}
	third := b.dial(t, true)
	until(t, third, sshconsoletest.Hello)
	if _, err := io.Copy(io.Discard, first); err != nil && !strings.Contains(err.Error(), "took the console back") {
		t.Errorf("the first ended: %v", err)
	}
	// A BMC that restarts ends the line.
	b.Disconnect()
	if _, err := io.ReadAll(third); err != nil && !errors.Is(err, io.EOF) {
		t.Logf("the end: %v", err)
	}
}

// TestRefused: every refusal names its cause, and none the password.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBoard(t, xcc, false)
	key := func(text string) sshline.HostKey {
		k, err := sshline.ParseHostKey(text)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	other := newBoard(t, xcc, false)
	known := string(ssh.MarshalAuthorizedKey(b.HostKey()))
	for name, c := range map[string]struct {
		change func(*sshline.Config)
		want   string
	}{
		"the password": {func(c *sshline.Config) { c.Password = "wrong" }, "refuses the user or the password"},
		"another host key": {
			func(c *sshline.Config) { c.HostKey = key(string(ssh.MarshalAuthorizedKey(other.HostKey()))) },
			"expected SHA256:",
		},
		"another fingerprint": {func(c *sshline.Config) { c.HostKey = key(ssh.FingerprintSHA256(other.HostKey())) },
			"expected SHA256:"},
		"nothing there":      {func(c *sshline.Config) { c.Address = "127.0.0.1:1" }, "connection refused"},
		"the known key":      {func(c *sshline.Config) { c.HostKey = key(known) }, ""},
		"its fingerprint":    {func(c *sshline.Config) { c.HostKey = key(ssh.FingerprintSHA256(b.HostKey())) }, ""},
		"old algorithms too": {func(c *sshline.Config) { c.Legacy = true }, ""},
	} {
		conf := b.config
		c.change(&conf)
		l, err := sshline.Dial(t.Context(), conf, false)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else {
				closing(t, l)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	var changed *sshline.ChangedKeyError
	b.config.HostKey = key(ssh.FingerprintSHA256(other.HostKey()))
	if _, err := sshline.Dial(t.Context(), b.config, false); !errors.As(err, &changed) || !changed.Permanent() ||
		changed.Found != ssh.FingerprintSHA256(b.HostKey()) {
		t.Errorf("another host key: %v", err)
	}
}

// TestSilentServer: a server that says nothing is given up with the context.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sshline.Dial(ctx, sshline.Config{Address: l.Addr().String(), Dialer: &net.Dialer{}}, false); err == nil {
		t.Error("no error")
	}
}
