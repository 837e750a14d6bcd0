package auth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const sessionKey = "a secret of all conductors"

// logIn begins a session of a login, by the header Authorization.
func (h *house) logIn(authorization string) Session {
	h.t.Helper()
	r := httptest.NewRequest(http.MethodPost, nodeapi.SessionPath, nil)
	r.Header.Set("Authorization", authorization)
	c, err := h.Authenticate(httptest.NewRecorder(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := h.Begin(r, c)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// show sends a request of a session. It returns the user, or the status and the challenges.
func (h *house) show(method, cookie, word string) string {
	h.t.Helper()
	r := httptest.NewRequest(method, "/v1/nodes", nil)
	r.AddCookie(&http.Cookie{Name: nodeapi.SessionCookie(false), Value: cookie})
	if word != "" {
		r.Header.Set(nodeapi.HeaderSession, word)
	}
	w := httptest.NewRecorder()
	c, err := h.Authenticate(w, r)
	var fault *nodeapi.Fault
	switch {
	case err == nil:
		return c.User + " " + c.Role.String()
	case !errors.As(err, &fault):
		h.t.Fatalf("error %v is no answer", err)
	}
	scheme, _, _ := strings.Cut(w.Header().Get("WWW-Authenticate"), " ")
	return strings.TrimSpace(http.StatusText(fault.Status) + " " + scheme)
}

func TestSession(t *testing.T) {
	h, token := newHouse(t)
	if err := h.KeepSessions([]byte(sessionKey)); err != nil {
		t.Fatal(err)
	}
	alice, bob := h.logIn(basic("alice", "wonder")), h.logIn("Bearer "+token)
	check := func(name, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	check("a read", h.show("GET", alice.Cookie, ""), "alice admin")
	check("a write", h.show("PATCH", alice.Cookie, alice.Word), "alice admin")
	check("a write of another site's page", h.show("PATCH", alice.Cookie, ""), "Forbidden")
	check("with the word of another session", h.show("DELETE", alice.Cookie, bob.Word), "Forbidden")
	check("a token's", h.show("POST", bob.Cookie, bob.Word), "bob reader")
	check("a cookie of somebody's own making", h.show("GET", "bm9ib2R5", ""), "Unauthorized Basic")
	check("which is no base64", h.show("GET", "!", "none"), "Unauthorized Ferrite-Session")
	check("which is long", h.show("GET", strings.Repeat("A", 4096), "none"), "Unauthorized Ferrite-Session")
	flipped := []byte(alice.Cookie)
	flipped[20] ^= 1
	check("which was changed", h.show("GET", string(flipped), "none"), "Unauthorized Ferrite-Session")

	// Another conductor with the same key takes it, one with another key does not.
	other := &house{t: t, dir: h.dir, users: h.users, now: h.now}
	other.open(Options{Htpasswd: h.path("htpasswd"), Users: h.path("users"), Tokens: true})
	if err := other.KeepSessions([]byte(sessionKey)); err != nil {
		t.Fatal(err)
	}
	check("at another conductor", other.show("PUT", alice.Cookie, alice.Word), "alice admin")
	if err := other.KeepSessions([]byte("a secret of other conductors")); err != nil {
		t.Fatal(err)
	}
	check("with another key", other.show("GET", alice.Cookie, "none"), "Unauthorized Ferrite-Session")

	h.now = h.now.Add(2 * time.Hour)
	check("after the token's end", h.show("GET", bob.Cookie, "none"), "Unauthorized Ferrite-Session")
	check("hours later", h.show("GET", alice.Cookie, ""), "alice admin")
	h.now = alice.Ends
	check("at its end", h.show("GET", alice.Cookie, "none"), "Unauthorized Ferrite-Session")
}

// TestSessionEndsWithTheLogin: a changed password and a token that was taken away end their sessions.
func TestSessionEndsWithTheLogin(t *testing.T) {
	h, token := newHouse(t)
	if err := h.KeepSessions([]byte(sessionKey)); err != nil {
		t.Fatal(err)
	}
	alice, bob := h.logIn(basic("alice", "wonder")), h.logIn("Bearer "+token)
	h.users.Users[1].Tokens = nil
	h.writeUsers()
	h.writePasswords("alice", "another", "bob", "build:er")
	h.open(Options{Htpasswd: h.path("htpasswd"), Users: h.path("users"), Tokens: true})
	if err := h.KeepSessions([]byte(sessionKey)); err != nil {
		t.Fatal(err)
	}
	for user, s := range map[string]Session{"alice": alice, "bob": bob} {
		if got := h.show("GET", s.Cookie, "none"); got != "Unauthorized Ferrite-Session" {
			t.Errorf("%s: %s", user, got)
		}
	}
}

// TestSessionBeginsWithALogin: a session cannot be prolonged by itself.
func TestSessionBeginsWithALogin(t *testing.T) {
	h, _ := newHouse(t)
	if err := h.KeepSessions([]byte("short")); err == nil {
		t.Error("a key of 5 bytes is taken")
	}
	if err := h.KeepSessions([]byte(sessionKey)); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, nodeapi.SessionPath, nil)
	s := h.logIn(basic("alice", "wonder"))
	r.AddCookie(&http.Cookie{Name: nodeapi.SessionCookie(false), Value: s.Cookie})
	r.Header.Set(nodeapi.HeaderSession, s.Word)
	c, err := h.Authenticate(httptest.NewRecorder(), r)
	if err != nil {
		t.Fatal(err)
	}
	var fault *nodeapi.Fault
	if _, err := h.Begin(r, c); !errors.As(err, &fault) || fault.Status != http.StatusBadRequest {
		t.Errorf("found %v, expected 400", err)
	}
}

// FuzzSession: only a sealed cookie authenticates.
func FuzzSession(f *testing.F) {
	f.Add("")
	f.Add("bm9ib2R5")
	f.Add(strings.Repeat("A", 200))
	a, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	if err := a.KeepSessions([]byte(sessionKey)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, cookie string) {
		if s, err := a.sessions.open(cookie); err == nil {
			t.Errorf("%q is the session of %q", cookie, s.User)
		}
	})
}

func TestMet(t *testing.T) {
	has := func(names []string, name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
	all, _, _ := NewRules(nil).Met(nil)
	if len(all) != len(Policy()) {
		t.Errorf("nobody in particular meets %d of %d rules", len(all), len(Policy()))
	}
	always, owner, lessee := NewRules(nil).Met(&Caller{User: "bob", Role: Operator, Project: "blue"})
	const own, show = "baremetal:node:update:driver_info", "baremetal:node:update"
	if has(always, own) || !has(owner, own) || has(lessee, own) || !has(lessee, show) {
		t.Errorf("an operator of a project: %v, %v, %v", always, owner, lessee)
	}
	if system, owner, _ := NewRules(nil).Met(&Caller{User: "eve", Role: Reader}); has(system, show) || len(owner) > 0 {
		t.Errorf("a reader of the system: %v, %v", system, owner)
	}
}
