package servetest

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/spf13/cobra"
	"golang.org/x/crypto/bcrypt"
)

// Guarded is a conductor with users, and with a certificate of its own authority.
type Guarded struct {
	*Conductor
	Dir       string
	Token     string // of olga, an operator
	Authority *certtest.Authority
}

// StartGuarded starts one, with more settings if there are any; alice is an admin with the password wonderland.
func StartGuarded(t *testing.T, cmd *cobra.Command, secure bool, settings ...string) *Guarded {
	t.Helper()
	g := &Guarded{Dir: t.TempDir(), Authority: certtest.New(t)}
	var kept auth.Token
	g.Token, kept = auth.NewToken("test", nil)
	users, err := auth.Users{Users: []auth.User{{Name: "alice", Role: "admin"},
		{Name: "olga", Role: "operator", Tokens: []auth.Token{kept}}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("wonderland"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	g.Write(t, "users", string(users))
	g.Write(t, "htpasswd", "alice:"+string(hash)+"\n")
	c := &Conductor{Sign: func(r *http.Request) { r.SetBasicAuth("alice", "wonderland") }}
	args := append(settings, "--auth", "basic,token", "--users-file", g.Path("users"), "--htpasswd-file",
		g.Path("htpasswd"))
	if secure {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(g.Authority.PEM())
		c.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
		t.Cleanup(c.HTTP.CloseIdleConnections)
		chain, key := g.Authority.Server("127.0.0.1")
		certFile, keyFile := certtest.Write(t, g.Dir, chain, key)
		args = append(args, "--tls-cert", certFile, "--tls-key", keyFile)
	}
	g.Conductor = StartFor(t, c, cmd, filepath.Join(g.Dir, "data"), args...)
	t.Cleanup(func() { g.End(t) })
	return g
}

// Path is a file in the folder of the users.
func (g *Guarded) Path(name string) string { return filepath.Join(g.Dir, name) }

// Write writes a file in the folder of the users.
func (g *Guarded) Write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(g.Path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// As makes a request as another caller.
func (g *Guarded) As(t *testing.T, sign func(*http.Request), method, path string, want int) {
	t.Helper()
	c := *g.Conductor
	c.Sign = sign
	c.Call(t, method, path, nil, want)
}
