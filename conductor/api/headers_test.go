package api_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestHeadersForBrowsers: every answer forbids browsers to guess another type. Answers about sessions are not cached.
// HTTPS is demanded only where an operator has named the URL. A page without TLS can neither change anything behind TLS
// nor open a console.
func TestHeadersForBrowsers(t *testing.T) {
	const body = `{"driver":"fake-hardware"}` // no conductor here has this driver: 400
	plain := newAtWork(t, func(o *api.Options) { o.Consoles = &console.Consoles{} })
	public := newAtWork(t, func(o *api.Options) { o.PublicURL = "https://cloud.example/metal" })
	send := func(w *atWork, method, path, origin string, secure bool) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if r.Host = "cloud.example"; secure {
			r.TLS = &tls.ConnectionState{}
		}
		r.Header.Set("Origin", origin)
		r.Header.Set("Upgrade", "websocket")
		rec := httptest.NewRecorder()
		w.api.ServeHTTP(rec, r)
		return rec
	}
	for _, path := range []string{"/", "/v1/nodes", "/nowhere", nodeapi.SessionPath, "/v1/lookup"} {
		h := send(plain, http.MethodGet, path, "", true).Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Strict-Transport-Security") != "" ||
			(h.Get("Cache-Control") == "no-store") != (path == nodeapi.SessionPath) {
			t.Errorf("%s: %v", path, h)
		}
		h = send(public, http.MethodGet, path, "", false).Header()
		if h.Get("Strict-Transport-Security") != "max-age=86400" {
			t.Errorf("%s behind a public URL: %v", path, h)
		}
	}
	consolePath := nodeapi.FerriteRoot + "/nodes/" + plain.node.UUID + "/console"
	for name, c := range map[string]struct {
		w      *atWork
		origin string
		secure bool
		want   int
	}{
		"its own page":                {plain, "https://cloud.example", true, http.StatusBadRequest},
		"without TLS":                 {plain, "http://cloud.example", true, http.StatusForbidden},
		"without TLS, in capitals":    {plain, "HTTP://CLOUD.EXAMPLE", true, http.StatusForbidden},
		"both without TLS":            {plain, "http://cloud.example", false, http.StatusBadRequest},
		"a proxy that ends TLS":       {plain, "https://cloud.example", false, http.StatusBadRequest},
		"public URL, page without it": {public, "http://cloud.example", true, http.StatusForbidden},
	} {
		if rec := send(c.w, http.MethodPost, "/v1/nodes", c.origin, c.secure); rec.Code != c.want {
			t.Errorf("%s: %d %s, want %d", name, rec.Code, rec.Body, c.want)
		}
		if c.w != plain || c.want != http.StatusForbidden {
			continue
		}
		if rec := send(plain, http.MethodGet, consolePath, c.origin, true); rec.Code != http.StatusForbidden {
			t.Errorf("%s: a console is answered %d", name, rec.Code)
		}
	}
}
