package sshkeys

import (
	"crypto/ed25519"
	"crypto/rand"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func publicKey(t testing.TB) []byte {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return ssh.MarshalAuthorizedKey(key)
}

func TestParse(t *testing.T) {
	one, two := string(publicKey(t)), string(publicKey(t))
	keys, err := Parse([]byte("# of the site\n\n" + one + two))
	if err != nil || len(keys) != 2 || string(ssh.MarshalAuthorizedKey(keys[1])) != two {
		t.Errorf("%v, %v", keys, err)
	}
	for text, want := range map[string]string{
		"": "found none", "# a comment\n": "found none",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n": "expected a public key",
		`command="reboot" ` + one:                    "expected a key alone", one + "more\n": "expected a public key",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: error %v, want %q in it", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(publicKey(f))
	f.Add([]byte("restrict ssh-ed25519 AAAA\n\n#"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if keys, err := Parse(text); err == nil && len(keys) == 0 {
			t.Error("no key, and no error")
		}
	})
}
