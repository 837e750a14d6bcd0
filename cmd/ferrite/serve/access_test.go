package serve

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/certificate/certtest"
)

// guarded is a conductor with users, and with a certificate of its own authority.
type guarded struct {
	*conductor
	dir       string
	token     string // of olga, an operator
	authority *certtest.Authority
}

// startGuarded starts one, with more settings if there are any; alice is an
// admin with the password wonderland.
func startGuarded(t *testing.T, secure bool, settings ...string) *guarded {
	t.Helper()
	g := &guarded{dir: t.TempDir(), authority: certtest.New(t)}
	var kept auth.Token
	g.token, kept = auth.NewToken("test", nil)
	users, err := auth.Users{Users: []auth.User{{Name: "alice", Role: "admin"},
		{Name: "olga", Role: "operator", Tokens: []auth.Token{kept}}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("wonderland"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	g.write(t, "users", string(users))
	g.write(t, "htpasswd", "alice:"+string(hash)+"\n")
	c := &conductor{sign: func(r *http.Request) { r.SetBasicAuth("alice", "wonderland") }}
	args := append(settings, "--auth", "basic,token", "--users-file", g.path("users"), "--htpasswd-file",
		g.path("htpasswd"))
	if secure {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(g.authority.PEM())
		c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
		t.Cleanup(c.http.CloseIdleConnections)
		chain, key := g.authority.Server("127.0.0.1")
		certFile, keyFile := certtest.Write(t, g.dir, chain, key)
		args = append(args, "--tls-cert", certFile, "--tls-key", keyFile)
	}
	g.conductor = startFor(t, c, filepath.Join(g.dir, "data"), args...)
	t.Cleanup(func() { g.end(t) })
	return g
}

func (g *guarded) path(name string) string { return filepath.Join(g.dir, name) }

func (g *guarded) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(g.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// as makes a request for somebody else.
func (g *guarded) as(t *testing.T, sign func(*http.Request), method, path string, want int) {
	t.Helper()
	c := *g.conductor
	c.sign = sign
	c.call(t, method, path, nil, want)
}

// TestGuarded: over HTTPS everything asks who it is, but what machines call; users
// change without a restart.
func TestGuarded(t *testing.T) {
	g := startGuarded(t, true)
	if !strings.HasPrefix(g.url, "https://") {
		t.Fatalf("it listens at %s", g.url)
	}
	n := g.call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}, 201)
	if links := fmt.Sprint(n["links"]); !strings.Contains(links, "href:"+g.url+"/v1/nodes/") {
		t.Errorf("links are %s", links)
	}
	olga := func(r *http.Request) { r.Header.Set("X-Auth-Token", g.token) }
	node := "/v1/nodes/" + fmt.Sprint(n["uuid"])
	g.as(t, olga, "GET", node, 200)
	g.as(t, olga, "DELETE", node, 403)
	for path, want := range map[string]int{
		"/": 200, "/v1": 200, "/v1/lookup?addresses=52:54:00:00:00:01": 404,
		"/v1/nodes": 401, node: 401, "/v1/drivers": 401, "/ferrite/v1/leases": 401,
		"/ferrite/v1" + strings.TrimPrefix(node, "/v1") + "/logs": 401,
	} {
		g.as(t, nil, "GET", path, want)
	}
	g.as(t, nil, "POST", "/v1/heartbeat/"+fmt.Sprint(n["uuid"]), 400)
	g.as(t, nil, "POST", "/v1/continue_inspection", 400)

	g.write(t, "users", "users: [{name: olga, role: emperor}]")
	g.as(t, olga, "GET", node, 200)
	g.write(t, "users", "users: [{name: alice, role: reader}]")
	g.as(t, olga, "GET", node, 401)
	g.call(t, "GET", node, nil, 200)
	g.call(t, "DELETE", node, nil, 403)
	for _, secret := range []string{"wonderland", g.token} {
		if strings.Contains(g.log.String(), secret) {
			t.Errorf("the log has a secret:\n%s", g.log)
		}
	}
	if !strings.Contains(g.log.String(), "emperor") {
		t.Errorf("the log does not say why a users file was not taken:\n%s", g.log)
	}
}

// TestCertificateRotation: the next connection sees the certificate that is in the
// files by then.
func TestCertificateRotation(t *testing.T) {
	g := startGuarded(t, true)
	serial := func() string {
		g.http.CloseIdleConnections()
		r, err := g.http.Get(g.url + "/")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.TLS.Version < tls.VersionTLS12 || r.Proto != "HTTP/1.1" {
			t.Errorf("%s over TLS %x", r.Proto, r.TLS.Version)
		}
		return r.TLS.PeerCertificates[0].SerialNumber.String()
	}
	was := serial()
	chain, key := g.authority.Server("127.0.0.1")
	certtest.Write(t, g.dir, chain, key)
	now := serial()
	if now == was {
		t.Error("the old certificate is still shown")
	}
	g.write(t, "key.pem", "broken")
	if serial() != now {
		t.Error("a broken key took the certificate out of use")
	}
}

// TestGophercloudBasic: the client that Metal3 uses logs in.
func TestGophercloudBasic(t *testing.T) {
	g := startGuarded(t, false)
	for password, want := range map[string]string{"wonderland": "", "guess": "401"} {
		client, err := httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{
			IronicEndpoint: g.url + "/v1", IronicUser: "alice", IronicUserPassword: password,
		})
		if err != nil {
			t.Fatal(err)
		}
		client.Microversion = "1.89"
		_, err = nodes.Create(t.Context(), client, nodes.CreateOpts{Driver: "fake-hardware"}).Extract()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: %v, want %q", password, err, want)
		}
		client.HTTPClient.CloseIdleConnections()
	}
}
