package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// house is an Authenticator with its files, a clock and a log.
type house struct {
	*Authenticator
	t     *testing.T
	dir   string
	users Users
	now   time.Time
	log   bytes.Buffer
}

// The cheapest bcrypt makes the tests quick.
func hash(t testing.TB, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

// newHouse has alice, an admin with a password; bob, a reader of project blue with a password and a token that ends in
// an hour; and carol, with only a password.
func newHouse(t *testing.T) (h *house, token string) {
	t.Helper()
	h = &house{t: t, dir: t.TempDir(), now: time.Unix(1e9, 0)}
	ends := h.now.Add(time.Hour)
	token, kept := NewToken("ci", &ends)
	h.users = Users{
		Users: []User{{Name: "alice", Role: "admin"}, {Name: "bob", Role: "reader", Project: "blue", Tokens: []Token{kept}}},
	}
	h.writeUsers()
	h.writePasswords("alice", "wonder", "bob", "build:er", "carol", "song")
	h.open(Options{Htpasswd: h.path("htpasswd"), Users: h.path("users"), Tokens: true})
	return h, token
}

func (h *house) open(o Options) {
	h.t.Helper()
	var err error
	o.Log, o.Now = slog.New(slog.NewTextHandler(&h.log, nil)), func() time.Time { return h.now }
	if h.Authenticator, err = New(o); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) path(name string) string { return filepath.Join(h.dir, name) }

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) writeUsers() {
	h.t.Helper()
	doc, err := h.users.Encode()
	if err != nil {
		h.t.Fatal(err)
	}
	h.write("users", string(doc))
}

func (h *house) writePasswords(pairs ...string) {
	h.t.Helper()
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s:%s\n", pairs[i], hash(h.t, pairs[i+1]))
	}
	h.write("htpasswd", b.String())
}

// ask sends a request with headers from an address. It returns the user, or the status and the challenges.
func (h *house) ask(from string, header ...string) string {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), "GET", "/v1/nodes", nil)
	r.RemoteAddr = net.JoinHostPort(from, "1000")
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c, err := h.Authenticate(w, r)
	var fault *nodeapi.Fault
	switch {
	case err == nil:
		return fmt.Sprintf("%s %s %s", c.User, c.Role, c.Project)
	case !errors.As(err, &fault):
		h.t.Fatalf("error %v is no answer", err)
	}
	return fmt.Sprint(fault.Status, " ", strings.Join(w.Header()["Www-Authenticate"], " "))
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

const wanted = `401 Basic realm="Baremetal API" Bearer realm="Baremetal API"`

func TestAuthenticate(t *testing.T) {
	h, token := newHouse(t)
	for name, tc := range map[string]struct {
		header []string
		want   string
	}{
		"nothing":                  {nil, wanted},
		"a password":               {[]string{"Authorization", basic("alice", "wonder")}, "alice admin "},
		"one with a colon":         {[]string{"Authorization", basic("bob", "build:er")}, "bob reader blue"},
		"a wrong password":         {[]string{"Authorization", basic("alice", "build:er")}, wanted},
		"no password":              {[]string{"Authorization", basic("alice", "")}, wanted},
		"nobody's":                 {[]string{"Authorization", basic("mallory", "wonder")}, wanted},
		"a user without a role":    {[]string{"Authorization", basic("carol", "song")}, wanted},
		"a token, Ironic's header": {[]string{"X-Auth-Token", token}, "bob reader blue"},
		"a bearer token":           {[]string{"Authorization", "bearer " + token}, "bob reader blue"},
		"a wrong token":            {[]string{"X-Auth-Token", token + "x"}, wanted},
		"the hash of a token":      {[]string{"X-Auth-Token", h.users.Users[1].Tokens[0].SHA256}, wanted},
		"a password beside a token": {[]string{"Authorization", basic("alice", "wonder"), "X-Auth-Token", "notused"},
			"alice admin "},
		"what is no base64":           {[]string{"Authorization", "Basic ###"}, "400 "},
		"a scheme that nobody offers": {[]string{"Authorization", "Negotiate x"}, "400 "},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			for range 2 { // the second time it may be remembered
				if got := h.ask("10.0.0.1", tc.header...); got != tc.want {
					t.Errorf("%q, want %q", got, tc.want)
				}
			}
		})
	}
	if log := h.log.String(); strings.Contains(log, "wonder") || strings.Contains(log, "ferrite_") ||
		!strings.Contains(log, "carol") {
		t.Errorf("the log tells a secret, or not who has no role:\n%s", log)
	}
	h.now = h.now.Add(time.Hour)
	if got := h.ask("10.0.0.1", "X-Auth-Token", token); got != wanted {
		t.Errorf("a token at its end: %q", got)
	}
}

// TestAloneLikeIronic: with passwords alone every user is an admin, and tokens are neither accepted nor requested.
func TestAloneLikeIronic(t *testing.T) {
	h, token := newHouse(t)
	h.open(Options{Htpasswd: h.path("htpasswd")})
	if got := h.ask("10.0.0.1", "Authorization", basic("carol", "song")); got != "carol admin " {
		t.Errorf("carol is %q", got)
	}
	for _, header := range [][]string{{"X-Auth-Token", token}, nil} {
		if got := h.ask("10.0.0.1", header...); got != `401 Basic realm="Baremetal API"` {
			t.Errorf("%v: %q", header, got)
		}
	}
}

// TestReload: a user taken out of a file is refused at the next request, also with a remembered password. An invalid
// file changes nothing.
func TestReload(t *testing.T) {
	h, token := newHouse(t)
	alice := []string{"Authorization", basic("alice", "wonder")}
	steps := []struct {
		what   string
		do     func()
		header []string
		want   string
	}{
		{"at first", func() {}, alice, "alice admin "},
		{"a new password", func() { h.writePasswords("alice", "land") }, alice, wanted},
		{"is known", func() {}, []string{"Authorization", basic("alice", "land")}, "alice admin "},
		{"a broken file", func() { h.write("htpasswd", "alice:plain\n") }, []string{"Authorization", basic("alice", "land")},
			"alice admin "},
		{"no file", func() { _ = os.Remove(h.path("htpasswd")) }, []string{"Authorization", basic("alice", "land")},
			"alice admin "},
		{"another role", func() { h.users.Users[0].Role = "reader"; h.writeUsers() },
			[]string{"Authorization", basic("alice", "land")}, "alice reader "},
		{"a token", func() {}, []string{"X-Auth-Token", token}, "bob reader blue"},
		{"broken users", func() { h.write("users", "users: [{name: bob, role: king}]") }, []string{"X-Auth-Token", token},
			"bob reader blue"},
		{"taken away", func() { h.users.Users[1].Tokens = nil; h.writeUsers() }, []string{"X-Auth-Token", token}, wanted},
	}
	for _, s := range steps {
		s.do()
		if got := h.ask("10.0.0.1", s.header...); got != s.want {
			t.Errorf("%s: %q, want %q", s.what, got, s.want)
		}
	}
	for _, want := range []string{`role \"king\"`, "no bcrypt hash", "no such file"} {
		if !strings.Contains(h.log.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, &h.log)
		}
	}
	if strings.Contains(h.log.String(), "plain") {
		t.Errorf("the log tells a secret:\n%s", &h.log)
	}
}

// TestRemembered: a password that was right is not hashed again for a while, and the
// memory is bounded.
func TestRemembered(t *testing.T) {
	h, _ := newHouse(t)
	alice := []string{"Authorization", basic("alice", "wonder")}
	if got := h.ask("10.0.0.1", alice...); got != "alice admin " {
		t.Fatal(got)
	}
	for range maxTurns { // no other password can be hashed now
		h.turns.places <- struct{}{}
	}
	if got := h.ask("10.0.0.1", alice...); got != "alice admin " {
		t.Errorf("remembered: %q", got)
	}
	ctx, gone := context.WithCancel(t.Context())
	gone()
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	r.SetBasicAuth("bob", "build:er")
	if _, err := h.Authenticate(httptest.NewRecorder(), r); !errors.Is(err, context.Canceled) {
		t.Errorf("not remembered: %v", err)
	}
	h.now = h.now.Add(knownFor)
	r.SetBasicAuth("alice", "wonder")
	if _, err := h.Authenticate(httptest.NewRecorder(), r); !errors.Is(err, context.Canceled) {
		t.Errorf("remembered for too long: %v", err)
	}
	known := h.passwords.Get().known
	for i := range 3 * maxKnown {
		known.add("u", fmt.Sprint(i), h.now)
	}
	if n := len(known.until); n > maxKnown {
		t.Errorf("%d passwords are remembered", n)
	}
}

func TestFilesAreChecked(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"users: [{name: a, role: admin, rôle: x}]":                            "unknown field",
		"users: [{name: a}]":                                                  `role "": expected reader, operator or admin`,
		"users: [{name: 'a:b', role: admin}]":                                 "no colon",
		"users: [{name: a, role: admin}, {name: a, role: reader}]":            "twice",
		"users: [{name: a, role: admin, tokens: [{label: x, sha256: '12'}]}]": "64 hexadecimal",
		"users: [{name: a, role: admin, tokens: [{sha256: '" + sum + "'}, {sha256: '" + strings.Repeat("cd", 32) +
			"'}]}]": "two tokens",
		"users: [{name: a, role: admin, tokens: [{sha256: '" + sum + "'}, {label: x, sha256: '" + strings.ToUpper(sum) +
			"'}]}]": "the same token",
	} {
		if _, err := ParseUsers([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %q", text, err, want)
		}
	}
	good := hash(t, "x")
	for text, want := range map[string]string{
		"alice":                     "line 1: expected NAME:HASH",
		"# who\n\nalice:$apr1$x":    "line 3",
		"a:" + good + "\na:" + good: "twice",
		"a:" + strings.Replace(good, "$04$", "$15$", 1): "cost 15",
		":" + good: "line 1",
		"a:$2z$04$" + strings.Repeat("a", 53) + "\n": "no bcrypt hash",
		"a:$2y$99$" + strings.Repeat("a", 53) + "\n": "no bcrypt hash",
	} {
		if _, err := parsePasswords([]byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "$") {
			t.Errorf("%s: %v, want it to say %q and not the hash", text, err, want)
		}
	}
	if p, err := parsePasswords([]byte("# nobody\n\n")); err != nil || len(p.hashes) != 0 {
		t.Errorf("a file of nobody: %v", err)
	}
}

func TestNewToken(t *testing.T) {
	secret, kept := NewToken("x", nil)
	again, _ := NewToken("x", nil)
	if secret == again || strings.Contains(secret, kept.SHA256) || len(secret) < 40 {
		t.Errorf("tokens %q, %q", secret, again)
	}
}

func FuzzUsers(f *testing.F) {
	f.Add([]byte("users:\n- name: alice\n  role: admin\n  tokens:\n  - label: ci\n    sha256: " +
		strings.Repeat("0a", 32) + "\n    expires: 2027-01-01T00:00:00Z\n"))
	f.Add([]byte("users: [{name: 'a', role: reader, project: x}]"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseDirectory(raw)
		if err != nil {
			return
		}
		for name, c := range d.byName {
			if name == "" || c.Role < Reader {
				t.Errorf("user %q with role %d", name, c.Role)
			}
		}
	})
}

func FuzzPasswords(f *testing.F) {
	f.Add([]byte("alice:" + hash(f, "x") + "\r\n# c\n"))
	f.Add([]byte("a:$2y$04$\nb"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if p, err := parsePasswords(raw); err == nil {
			for name, hash := range p.hashes {
				if c, err := bcrypt.Cost(hash); err != nil || c > maxCost || name == "" {
					t.Errorf("%q has a hash of cost %d, %v", name, c, err)
				}
			}
		}
	})
}
