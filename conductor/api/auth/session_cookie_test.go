package auth

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestSessionCookieOfItsOrigin: behind https a session is taken by the name alone that other ports cannot set.
func TestSessionCookieOfItsOrigin(t *testing.T) {
	h, _ := newHouse(t)
	if err := h.KeepSessions([]byte(sessionKey)); err != nil {
		t.Fatal(err)
	}
	s := h.logIn(basic("alice", "wonder"))
	for _, c := range []struct {
		public      string
		secure, own bool
		https       bool // the browser's view
	}{
		{"", false, true, false}, {"", true, true, true}, {"", true, false, false}, {"", false, false, true},
		{"https://cloud.example/metal", false, true, true}, {"https://cloud.example/metal", false, false, false},
		{"http://cloud.example", true, true, false},
	} {
		h.publicURL = c.public
		r := httptest.NewRequest(http.MethodGet, "/v1/nodes", nil)
		if c.secure {
			r.TLS = &tls.ConnectionState{}
		}
		r.AddCookie(&http.Cookie{Name: nodeapi.SessionCookie(c.https), Value: s.Cookie})
		if _, err := h.Authenticate(httptest.NewRecorder(), r); (err == nil) != c.own {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
