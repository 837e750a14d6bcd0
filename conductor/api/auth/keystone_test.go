package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// cloud is a Keystone with answers set by a test.
type cloud struct {
	tokens  map[string]Identity
	away    error
	asked   int
	expired []string // expired tokens that Keystone was asked about
}

func (c *cloud) URL() string                               { return "http://keystone:5000/v3" }
func (c *cloud) Project() string                           { return "service" }
func (c *cloud) Domain() string                            { return "Default" }
func (c *cloud) Known(string, bool) (i Identity, has bool) { return i, false }

func (c *cloud) Identify(_ context.Context, token string, expired bool) (Identity, error) {
	c.asked++
	if expired {
		c.expired = append(c.expired, token)
	}
	who, ok := c.tokens[token]
	switch {
	case c.away != nil:
		return who, c.away
	case !ok, strings.HasPrefix(token, "past") && !expired:
		return who, ErrUnknownToken
	}
	return who, nil
}

// someone is an identity of the user ann: roles in a project "NAME[@DOMAIN]", "system" or "" for no scope.
func someone(scope, roles string) Identity {
	who := Identity{User: "ann", UserDomain: "Default", Roles: strings.Fields(roles),
		Expires: time.Unix(2e9, 0)}
	switch {
	case scope == "system":
		who.System = true
	case scope != "":
		name, domain, _ := strings.Cut(scope, "@")
		who.ProjectID, who.Project, who.ProjectDomain = name+"-id", name, "Default"
		if domain != "" {
			who.ProjectDomain = domain
		}
	}
	return who
}

// newCloudHouse takes tokens of a cloud and of the users file.
func newCloudHouse(t *testing.T) (*house, *cloud) {
	h, _ := newHouse(t)
	c := &cloud{tokens: map[string]Identity{}}
	h.open(Options{Users: h.path("users"), Tokens: true, Keystone: c, AdminProjects: []string{"admin"}})
	return h, c
}

func (h *house) with(headers ...string) (*Caller, *httptest.ResponseRecorder, error) {
	r := httptest.NewRequest(http.MethodGet, "/v1/nodes", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	caller, err := h.Authenticate(w, r)
	return caller, w, err
}

// TestPersonas: tokens get the roles of Ironic's secure RBAC.
func TestPersonas(t *testing.T) {
	h, c := newCloudHouse(t)
	for _, row := range []struct{ scope, roles, want string }{
		{"system", "admin member reader", "ann@Default admin of everything"},
		{"system", "member reader", "ann@Default operator of everything"},
		{"system", "reader", "ann@Default reader of everything"},
		{"system", "service", "ann@Default admin of everything"},
		{"system", "manager member reader", "ann@Default operator of everything"},
		{"admin", "admin member reader", "ann@Default admin of everything"},
		{"admin", "member reader", "ann@Default operator of admin-id"},
		{"admin@other", "admin", "ann@Default admin of admin-id"},
		{"service", "service", "ann@Default admin of everything"},
		{"service@other", "service", "ann@Default operator of service-id"},
		{"service", "admin", "ann@Default admin of service-id"},
		{"blue", "service", "ann@Default operator of blue-id"},
		{"blue", "admin member reader", "ann@Default admin of blue-id"},
		{"blue", "manager member reader", "ann@Default admin of blue-id"},
		{"blue", "member reader", "ann@Default operator of blue-id"},
		{"blue", "reader", "ann@Default reader of blue-id"},
		{"blue", "swiftoperator reader", "ann@Default reader of blue-id"},
		{"blue", "swiftoperator", "403"},
		{"system", "", "403"},
		{"", "", "403"},
		{"", "admin", "403"},
	} {
		c.tokens["t"] = someone(row.scope, row.roles)
		got := ""
		caller, _, err := h.with("X-Auth-Token", "t")
		var fault *nodeapi.Fault
		switch {
		case errors.As(err, &fault):
			got = fmt.Sprint(fault.Status)
		case err != nil:
			t.Fatal(err)
		case caller.Project == "":
			got = fmt.Sprintf("%s %s of everything", caller.User, caller.Role)
		default:
			got = fmt.Sprintf("%s %s of %s", caller.User, caller.Role, caller.Project)
		}
		if got != row.want {
			t.Errorf("%q with %q: %s, expected %s", row.scope, row.roles, got, row.want)
		}
	}
	stranger := someone("blue", "reader")
	stranger.UserDomain = "Other"
	c.tokens["t"] = stranger
	if caller, _, err := h.with("Authorization", "Bearer t"); err != nil || caller.User != "ann@Other" {
		t.Errorf("a user of another domain: %+v, %v", caller, err)
	}
}

func TestKeystoneRefuses(t *testing.T) {
	h, c := newCloudHouse(t)
	status := func(headers ...string) (int, *httptest.ResponseRecorder) {
		t.Helper()
		_, w, err := h.with(headers...)
		var fault *nodeapi.Fault
		if !errors.As(err, &fault) {
			t.Fatalf("%v: %v, expected a refusal", headers, err)
		}
		return fault.Status, w
	}
	for _, headers := range [][]string{{}, {"X-Auth-Token", "unknown"}, {"Authorization", "Bearer unknown"}} {
		got, w := status(headers...)
		if asks := strings.Join(w.Header()["Www-Authenticate"], ", "); got != http.StatusUnauthorized ||
			!strings.Contains(asks, `Keystone uri="http://keystone:5000/v3"`) {
			t.Errorf("%v: %d, WWW-Authenticate %s", headers, got, asks)
		}
	}
	c.away = errors.New("connection refused")
	got, w := status("X-Auth-Token", "unknown")
	if got != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		!strings.Contains(h.log.String(), "connection refused") {
		t.Errorf("Keystone away: %d, %v, log %s", got, w.Header(), h.log.String())
	}
}

// TestInventedTokens: an address that invents tokens is turned away before Keystone is asked for each.
func TestInventedTokens(t *testing.T) {
	h, c := newCloudHouse(t)
	for i := range 100 {
		_, _, _ = h.with("X-Auth-Token", fmt.Sprint("invented-", i))
	}
	if c.asked > 25 {
		t.Errorf("Keystone was asked for %d invented tokens of one address, expected at most 25", c.asked)
	}
	h.now = h.now.Add(time.Minute)
	c.away, c.asked = errors.New("away"), 0
	for range 100 { // these were not checked: they are no failures
		_, _, _ = h.with("X-Auth-Token", "a")
	}
	if c.asked != 100 {
		t.Errorf("asked %d times, expected 100", c.asked)
	}
}

// TestServiceToken: a service may show a user's token that has expired, beside its own.
func TestServiceToken(t *testing.T) {
	h, c := newCloudHouse(t)
	c.tokens["past"], c.tokens["nova"] = someone("blue", "member"), someone("service", "service")
	c.tokens["user"] = someone("blue", "member")
	for _, row := range []struct {
		token, service string
		want           int
	}{
		{"past", "", http.StatusUnauthorized},
		{"past", "nova", http.StatusOK},
		{"past", "user", http.StatusUnauthorized},
		{"past", "past", http.StatusUnauthorized},
		{"past", "unknown", http.StatusUnauthorized},
		{"user", "nova", http.StatusOK},
	} {
		headers := []string{"X-Auth-Token", row.token}
		if row.service != "" {
			headers = append(headers, serviceHeader, row.service)
		}
		caller, _, err := h.with(headers...)
		got := http.StatusOK
		if err != nil {
			var fault *nodeapi.Fault
			if !errors.As(err, &fault) {
				t.Fatal(err)
			}
			got = fault.Status
		}
		if got != row.want || err == nil && caller.Project != "blue-id" {
			t.Errorf("%s beside %q: %d, %+v; expected %d", row.token, row.service, got, caller, row.want)
		}
	}
}

// TestOwnTokens: the users file comes first, and Keystone is not asked about its tokens.
func TestOwnTokens(t *testing.T) {
	h, token := newHouse(t)
	c := &cloud{}
	h.open(Options{Users: h.path("users"), Tokens: true, Keystone: c})
	if caller, _, err := h.with("X-Auth-Token", token); err != nil || caller.User != "bob" || c.asked != 0 {
		t.Errorf("%+v, %v, asked %d times", caller, err, c.asked)
	}
}

// TestKeystoneSession: the login of a browser ends with the token that was shown for it.
func TestKeystoneSession(t *testing.T) {
	h, c := newCloudHouse(t)
	if err := h.KeepSessions([]byte(sessionKey)); err != nil {
		t.Fatal(err)
	}
	c.tokens["t"] = someone("blue", "member")
	s := h.logIn("Bearer t")
	if got := h.show(http.MethodPost, s.Cookie, s.Word); got != "ann@Default operator" {
		t.Errorf("the session: %s", got)
	}
	delete(c.tokens, "t")
	if got := h.show(http.MethodGet, s.Cookie, ""); !strings.HasPrefix(got, "Unauthorized") {
		t.Errorf("after the token was revoked: %s", got)
	}
	c.away = errors.New("away")
	if got := h.show(http.MethodGet, s.Cookie, ""); got != "Service Unavailable" {
		t.Errorf("while Keystone is away: %s", got)
	}
}
