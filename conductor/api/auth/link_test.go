package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// invite gives a user a link, and answers with its secret.
func (h *house) invite(user int, lasts time.Duration) string {
	h.t.Helper()
	secret, kept, err := NewLink(h.now, lasts)
	if err != nil {
		h.t.Fatal(err)
	}
	h.users.Users[user].Links = append(h.users.Users[user].Links, kept)
	return secret
}

// reopen starts the conductor anew, with the files as they are now.
func (h *house) reopen() {
	h.t.Helper()
	h.writeUsers()
	h.open(Options{Htpasswd: h.path("htpasswd"), Users: h.path("users"), Tokens: true})
	if err := h.KeepSessions([]byte(sessionKey)); err != nil {
		h.t.Fatal(err)
	}
}

// follow begins a session by a link; "" when it is refused.
func (h *house) follow(secret string, header ...string) (user string, s Session) {
	h.t.Helper()
	r := httptest.NewRequest(http.MethodPost, nodeapi.SessionPath, nil)
	r.Header.Set("Authorization", nodeapi.LinkScheme+" "+secret)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	c, err := h.Authenticate(httptest.NewRecorder(), r)
	if err != nil {
		if strings.Contains(err.Error(), secret) && secret != "" {
			h.t.Errorf("the refusal contains the secret: %v", err)
		}
		return "", s
	}
	if s, err = h.Begin(r, c); err != nil {
		h.t.Fatal(err)
	}
	return c.User, s
}

func TestLinkLogsInOnce(t *testing.T) {
	h, _ := newHouse(t)
	h.reopen()
	secret := h.invite(1, 10*time.Minute)
	h.reopen()
	user, s := h.follow(secret, "X-Auth-Token", "of somebody else")
	if user != "bob" {
		t.Fatalf("found %q, expected bob", user)
	}
	if got := h.show("GET", s.Cookie, ""); got != "bob reader" {
		t.Errorf("the session is of %q", got)
	}
	if user, _ := h.follow(secret); user != "" {
		t.Errorf("a second use logs %s in", user)
	}
	if strings.Contains(h.log.String(), secret) {
		t.Errorf("the log contains the secret: %s", h.log.String())
	}
	if doc, err := h.users.Encode(); err != nil || strings.Contains(string(doc), secret) {
		t.Errorf("the file contains the secret: %s, %v", doc, err)
	}
}

// TestLinkIsRefused: each misuse, and none of them uses a link up.
func TestLinkIsRefused(t *testing.T) {
	h, _ := newHouse(t)
	h.reopen()
	expired, before, early := h.invite(0, time.Minute), h.invite(0, time.Hour), ""
	h.now = h.now.Add(2 * time.Minute)
	h.reopen() // a conductor does not know which links one before it has seen used
	good := h.invite(0, time.Hour)
	h.now = h.now.Add(time.Second)
	early = h.invite(0, time.Hour)
	h.now = h.now.Add(-time.Second)
	h.writeUsers()
	sum := h.users.Users[0].Links[2].SHA256
	for name, secret := range map[string]string{
		"expired": expired, "made before the conductor started": before, "made in the future": early,
		"empty": "", "forged": strings.Repeat("A", 43), "its own hash": sum, "of another conductor": "x" + good,
	} {
		if user, _ := h.follow(secret); user != "" {
			t.Errorf("%s: it logs %s in", name, user)
		}
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodGet, nodeapi.SessionPath, nil), httptest.NewRequest(http.MethodPost, "/v1/nodes", nil),
	} {
		r.Header.Set("Authorization", nodeapi.LinkScheme+" "+good)
		if c, err := h.Authenticate(httptest.NewRecorder(), r); err == nil {
			t.Errorf("%s %s is let in as %s", r.Method, r.URL.Path, c.User)
		}
	}
	if user, _ := h.follow(good); user != "alice" {
		t.Errorf("the link is used up: found %q", user)
	}
}

// TestLinkIsUsedOnceAtATime: of many clients that follow a link in parallel, one is logged in.
func TestLinkIsUsedOnceAtATime(t *testing.T) {
	h, _ := newHouse(t)
	h.reopen()
	secret := h.invite(0, time.Hour)
	h.writeUsers()
	var all sync.WaitGroup
	var mu sync.Mutex
	in := 0
	for range 8 {
		all.Go(func() {
			r := httptest.NewRequest(http.MethodPost, nodeapi.SessionPath, nil)
			r.Header.Set("Authorization", nodeapi.LinkScheme+" "+secret)
			if _, err := h.Authenticate(httptest.NewRecorder(), r); err == nil {
				mu.Lock()
				in++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if in != 1 {
		t.Errorf("%d were logged in, expected 1", in)
	}
}

// TestLinkSessionEnds: with the user, and with a change of the user's password.
func TestLinkSessionEnds(t *testing.T) {
	for name, change := range map[string]func(h *house){
		"user deleted":     func(h *house) { h.users.Users = h.users.Users[:1] },
		"password changed": func(h *house) { h.writePasswords("alice", "wonder", "bob", "another") },
	} {
		h, _ := newHouse(t)
		h.reopen()
		secret := h.invite(1, time.Hour)
		h.reopen()
		_, s := h.follow(secret)
		change(h)
		h.reopen()
		if got := h.show("GET", s.Cookie, ""); !strings.HasPrefix(got, "Unauthorized") {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

func TestLinkIsShort(t *testing.T) {
	for _, lasts := range []time.Duration{0, -time.Second, MaxLinkTime + time.Second} {
		if _, _, err := NewLink(time.Unix(1e9, 0), lasts); err == nil {
			t.Errorf("a link of %s is made", lasts)
		}
	}
	made := time.Unix(1e9, 0)
	for name, l := range map[string]Link{
		"no hash": {Made: made, Expires: made.Add(time.Minute)},
		"a week":  {SHA256: strings.Repeat("a", 64), Made: made, Expires: made.Add(7 * 24 * time.Hour)},
		"no end":  {SHA256: strings.Repeat("a", 64), Made: made},
	} {
		if err := (Users{Users: []User{{Name: "a", Role: "admin", Links: []Link{l}}}}).Check(); err == nil {
			t.Errorf("%s: the file is taken", name)
		}
	}
}
