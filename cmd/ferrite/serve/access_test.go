package serve

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
)

func startGuarded(t *testing.T, secure bool, settings ...string) *servetest.Guarded {
	t.Helper()
	return servetest.StartGuarded(t, Command(), secure, settings...)
}

// TestGuarded: over HTTPS everything needs a login, except the paths for machines; users change without a restart.
func TestGuarded(t *testing.T) {
	g := startGuarded(t, true)
	if !strings.HasPrefix(g.URL, "https://") {
		t.Fatalf("it listens at %s", g.URL)
	}
	n := g.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}, 201)
	if links := fmt.Sprint(n["links"]); !strings.Contains(links, "href:"+g.URL+"/v1/nodes/") {
		t.Errorf("links are %s", links)
	}
	olga := func(r *http.Request) { r.Header.Set("X-Auth-Token", g.Token) }
	node := "/v1/nodes/" + fmt.Sprint(n["uuid"])
	g.As(t, olga, "GET", node, 200)
	g.As(t, olga, "DELETE", node, 403)
	for path, want := range map[string]int{
		"/": 200, "/v1": 200, "/v1/lookup?addresses=52:54:00:00:00:01": 404,
		"/v1/nodes": 401, node: 401, "/v1/drivers": 401, "/ferrite/v1/leases": 401,
		"/ferrite/v1" + strings.TrimPrefix(node, "/v1") + "/logs": 401,
	} {
		g.As(t, nil, "GET", path, want)
	}
	g.As(t, nil, "POST", "/v1/heartbeat/"+fmt.Sprint(n["uuid"]), 400)
	g.As(t, nil, "POST", "/v1/continue_inspection", 400)

	g.Write(t, "users", "users: [{name: olga, role: emperor}]")
	g.As(t, olga, "GET", node, 200)
	g.Write(t, "users", "users: [{name: alice, role: reader}]")
	g.As(t, olga, "GET", node, 401)
	g.Call(t, "GET", node, nil, 200)
	g.Call(t, "DELETE", node, nil, 403)
	for _, secret := range []string{"wonderland", g.Token} {
		if strings.Contains(g.Log.String(), secret) {
			t.Errorf("the log has a secret:\n%s", g.Log)
		}
	}
	if !strings.Contains(g.Log.String(), "emperor") {
		t.Errorf("the log does not say why a users file was not taken:\n%s", g.Log)
	}
}

// TestCertificateRotation: the next connection sees the certificate that is in the
// files by then.
func TestCertificateRotation(t *testing.T) {
	g := startGuarded(t, true)
	serial := func() string {
		g.HTTP.CloseIdleConnections()
		r, err := g.HTTP.Get(g.URL + "/")
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
	chain, key := g.Authority.Server("127.0.0.1")
	certtest.Write(t, g.Dir, chain, key)
	now := serial()
	if now == was {
		t.Error("the old certificate is still shown")
	}
	g.Write(t, "key.pem", "broken")
	if serial() != now {
		t.Error("a broken key took the certificate out of use")
	}
}

// TestGophercloudBasic: the client that Metal3 uses logs in.
func TestGophercloudBasic(t *testing.T) {
	g := startGuarded(t, false)
	for password, want := range map[string]string{"wonderland": "", "guess": "401"} {
		client, err := httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{
			IronicEndpoint: g.URL + "/v1", IronicUser: "alice", IronicUserPassword: password,
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
