package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestBrowserLogsIn: a browser logs in once, and its cookie serves at Ironic's and Kubernetes' paths, also after a
// restart. It makes changes with the word against forged requests, and logs out.
func TestBrowserLogsIn(t *testing.T) {
	g := servetest.StartGuarded(t, Command(), true)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	g.HTTP.Jar, g.Sign = jar, nil
	ask := func(method, path, body string, want int, header ...string) (answer []byte, h http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, g.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		a, err := g.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(a.Body); err != nil {
			t.Fatal(err)
		}
		if a.StatusCode != want {
			t.Errorf("%s %s answers %d %s, want %d", method, path, a.StatusCode, b.Bytes(), want)
		}
		return b.Bytes(), a.Header
	}
	_, h := ask("GET", nodeapi.SessionPath, "", http.StatusUnauthorized, nodeapi.HeaderSession, "none")
	if got := h.Values("WWW-Authenticate"); len(got) != 1 || strings.HasPrefix(got[0], "Basic") {
		t.Errorf("a page is asked for %q: the browser would ask for a password itself", got)
	}
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth("alice", "wonderland")
	text, h := ask("POST", nodeapi.SessionPath, "", http.StatusOK, "Authorization", r.Header.Get("Authorization"))
	if cookie := h.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-") ||
		!strings.Contains(cookie, "Path=/; ") || !strings.Contains(cookie, "HttpOnly; Secure; SameSite=Strict") {
		t.Errorf("cookie %s", cookie)
	}
	var session nodeapi.Session
	if err := json.Unmarshal(text, &session); err != nil || session.User != "alice" || session.Role != "admin" ||
		session.Ends == nil || len(session.Rules.Always) == 0 {
		t.Fatalf("%s: %v", text, err)
	}
	const create = `{"driver": "fake-hardware", "name": "mine"}`
	ask("POST", "/v1/nodes", create, http.StatusForbidden)
	ask("POST", "/v1/nodes", create, http.StatusCreated, nodeapi.HeaderSession, session.Word)
	ask("POST", "/v1/nodes", create, http.StatusForbidden, nodeapi.HeaderSession, session.Word, "Sec-Fetch-Site",
		"cross-site")
	ask("GET", "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts", "", http.StatusOK)

	g.End(t)
	if err := g.Begin(Command(), filepath.Join(g.Dir, "data"), "--auth", "basic", "--htpasswd-file", g.Path("htpasswd"),
		"--tls-cert", g.Path("cert.pem"), "--tls-key", g.Path("key.pem")); err != nil {
		t.Fatal(err)
	}
	text, _ = ask("GET", nodeapi.SessionPath, "", http.StatusOK)
	var again nodeapi.Session
	if err := json.Unmarshal(text, &again); err != nil || again.Word != session.Word {
		t.Errorf("after a restart: %s, %v", text, err)
	}
	ask("DELETE", nodeapi.SessionPath, "", http.StatusNoContent, nodeapi.HeaderSession, session.Word)
	ask("GET", nodeapi.SessionPath, "", http.StatusUnauthorized)
}
