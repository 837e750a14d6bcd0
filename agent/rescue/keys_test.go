package rescue

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

func signer(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKeyAlone: a server with keys lets in the owner of a key, and refuses all passwords.
func TestKeyAlone(t *testing.T) {
	ours, strangers := signer(t), signer(t)
	s, err := Listen(t.Context(), "127.0.0.1:0", Options{Keys: []ssh.PublicKey{ours.PublicKey()},
		Kernel: sys.Linux{}, Programs: programs{}, Shell: "/bin/sh", Log: slog.New(slog.DiscardHandler),
		Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	defer func() { cancel(); <-ended }()
	for name, tt := range map[string]struct {
		user string
		auth ssh.AuthMethod
		ok   bool
	}{
		"the key":        {Operator, ssh.PublicKeys(strangers, ours), true},
		"another key":    {Operator, ssh.PublicKeys(strangers), false},
		"another user":   {User, ssh.PublicKeys(ours), false},
		"a password":     {Operator, ssh.Password(""), false},
		"rescue's login": {User, ssh.Password(hello), false},
	} {
		client, err := ssh.Dial("tcp", s.Address().String(), &ssh.ClientConfig{User: tt.user, Auth: []ssh.AuthMethod{tt.auth},
			HostKeyCallback: ssh.FixedHostKey(s.key.PublicKey()), Timeout: 30 * time.Second})
		if (err == nil) != tt.ok {
			t.Errorf("%s: logged in: %t, %v", name, err == nil, err)
		}
		if err != nil {
			continue
		}
		session, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := session.Output("echo here"); err != nil || string(out) != "here\n" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		client.Close()
	}
}
