package keystone_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cloud answers as Keystone 22 does to the two requests that are made of it.
type cloud struct {
	*httptest.Server
	logins, asked atomic.Int64
	now           atomic.Int64 // Unix seconds

	mu      sync.Mutex
	own     string            // the service user's token that is taken
	tokens  map[string]string // answers by token
	instead http.HandlerFunc  // when set, answers all
	hold    chan struct{}     // when set, questions wait for it
}

func newCloud(t *testing.T) *cloud {
	c := &cloud{tokens: map[string]string{}}
	c.now.Store(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Unix())
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	instead, own, hold := c.instead, c.own, c.hold
	body, known := c.tokens[r.Header.Get("X-Subject-Token")]
	c.mu.Unlock()
	switch {
	case instead != nil:
		instead(w, r)
	case r.URL.Path != "/v3/auth/tokens":
		http.NotFound(w, r)
	case r.Method == http.MethodPost:
		n := c.logins.Add(1)
		c.mu.Lock()
		c.own = fmt.Sprint("own-", n)
		w.Header().Set("X-Subject-Token", c.own)
		c.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"token": {"catalog": [
			{"type": "image", "endpoints": [{"interface": "internal", "url": null},
				{"interface": "public", "url": "http://glance:9292"}]},
			{"type": "compute", "endpoints": [
				{"interface": "public", "region_id": "north", "region": "north", "url": "http://north:8774"},
				{"interface": "public", "region_id": "south", "region": "south", "url": "http://south:8774"},
				{"interface": "internal", "region_id": "south", "region": "south", "url": "http://inner-south:8774"}]},
			{"type": "odd", "endpoints": [{"interface": "public", "url": "file:///etc"}]}]}}`)
	default:
		if hold != nil {
			<-hold
		}
		c.asked.Add(1)
		if r.Header.Get("X-Auth-Token") != own {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if !known {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if strings.Contains(body, "past") && r.URL.Query().Get("allow_expired") != "1" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, body)
	}
}

func (c *cloud) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// says has the cloud know a token of a user's that ends so much later than now.
func (c *cloud) says(token, user string, ends time.Duration) {
	doc, _ := json.Marshal(map[string]any{"token": map[string]any{
		"user":       map[string]any{"id": user + "-id", "name": user, "domain": map[string]any{"name": "Default"}},
		"expires_at": time.Unix(c.now.Load(), 0).Add(ends).UTC().Format("2006-01-02T15:04:05.000000Z"),
		"roles":      []any{map[string]any{"name": "reader"}},
		"project":    map[string]any{"id": "p1", "name": "blue", "domain": map[string]any{"name": "Default"}},
	}})
	c.set(func() { c.tokens[token] = string(doc) })
}

func (c *cloud) client(t *testing.T, change func(*keystone.Options)) *keystone.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	o := keystone.Options{
		URL: c.URL, User: "ironic", Project: "service", Domain: "Default", Lasts: time.Minute,
		Password: func() (string, error) { return "pw", nil }, Transport: transport,
		Now: func() time.Time { return time.Unix(c.now.Load(), 0) },
	}
	if change != nil {
		change(&o)
	}
	k, err := keystone.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestCache: an answer is believed for its time, and never longer than the token.
func TestCache(t *testing.T) {
	c := newCloud(t)
	k := c.client(t, nil)
	c.says("long", "ann", time.Hour)
	c.says("short", "bob", 20*time.Second)
	ask := func(token, user string, asked int64) {
		t.Helper()
		who, err := k.Identify(t.Context(), token, false)
		if got := c.asked.Load(); err != nil || who.User != user || got != asked {
			t.Errorf("%s: %q, %v, asked %d times; expected %s and %d", token, who.User, err, got, user, asked)
		}
	}
	ask("long", "ann", 1)
	ask("long", "ann", 1)
	ask("short", "bob", 2)
	c.now.Add(30)
	ask("long", "ann", 2)
	if _, err := k.Identify(t.Context(), "short", false); !errors.Is(err, auth.ErrUnknownToken) {
		t.Errorf("a token that has ended: %v", err)
	}
	c.set(func() { delete(c.tokens, "long") }) // revoked
	c.now.Add(31)
	if _, err := k.Identify(t.Context(), "long", false); !errors.Is(err, auth.ErrUnknownToken) {
		t.Errorf("a revoked token after the cache's time: %v", err)
	}
	if n := c.logins.Load(); n != 1 {
		t.Errorf("the service user logged in %d times, expected once", n)
	}
}

// TestOwnTokenEnds: the service user logs in again when its own token is refused, once.
func TestOwnTokenEnds(t *testing.T) {
	c := newCloud(t)
	k := c.client(t, nil)
	c.says("a", "ann", time.Hour)
	c.says("b", "bob", time.Hour)
	if _, err := k.Identify(t.Context(), "a", false); err != nil {
		t.Fatal(err)
	}
	c.set(func() { c.own = "another" })
	who, err := k.Identify(t.Context(), "b", false)
	if err != nil || who.User != "bob" || c.logins.Load() != 2 {
		t.Errorf("%+v, %v, %d logins; expected bob and 2", who, err, c.logins.Load())
	}
}

// TestOnce: callers with one token are one question.
func TestOnce(t *testing.T) {
	c := newCloud(t)
	k := c.client(t, nil)
	c.says("a", "ann", time.Hour)
	hold := make(chan struct{})
	c.set(func() { c.hold = hold })
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := k.Identify(gone, "a", false)
		left <- err
	}()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if who, err := k.Identify(t.Context(), "a", false); err != nil || who.User != "ann" {
				t.Errorf("%+v, %v", who, err)
			}
		})
	}
	leave() // it fails alone
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that went away: %v", err)
	}
	close(hold)
	all.Wait()
	if n := c.asked.Load(); n != 1 {
		t.Errorf("asked %d times, expected once", n)
	}
}

// TestExpired: a token that has ended is taken beside a service's, and an answer about it is not used for any other.
func TestExpired(t *testing.T) {
	c := newCloud(t)
	k := c.client(t, nil)
	c.says("past", "past", -time.Hour)
	if who, err := k.Identify(t.Context(), "past", true); err != nil || who.User != "past" {
		t.Errorf("beside a service's token: %+v, %v", who, err)
	}
	for _, token := range []string{"past", "past expired", "ever past"} {
		if _, known := k.Known(token, false); known {
			t.Errorf("%q alone is known", token)
		}
		if _, err := k.Identify(t.Context(), token, false); !errors.Is(err, auth.ErrUnknownToken) {
			t.Errorf("%q alone: %v", token, err)
		}
	}
}

// TestTrouble: a Keystone that is away, slow, lies or refuses the service user makes no token invalid, and none valid.
func TestTrouble(t *testing.T) {
	login := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.Header().Set("X-Subject-Token", "own")
				w.WriteHeader(http.StatusCreated)
				fmt.Fprint(w, `{"token": {}}`)
				return
			}
			then(w, r)
		}
	}
	code := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<script>", n) }
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"refuses the service user": {code(http.StatusUnauthorized), `the user "ironic" of the domain "Default"`},
		"no role":                  {login(code(http.StatusForbidden)), `the user "ironic" may check no tokens`},
		"fails":                    {code(http.StatusInternalServerError), "answered 500"},
		"fails later":              {login(code(http.StatusBadGateway)), "answered 502"},
		"redirects": {login(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/steal", http.StatusFound)
		}), "sends requests on to 127.0.0.1:1"},
		"no user": {login(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"token": {"expires_at": "2030-01-01T00:00:00.000000Z"}}`)
		}), "without a user"},
		"no end": {login(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"token": {"user": {"id": "1", "name": "a"}}}`)
		}), "an end of the token"},
		"no JSON":  {login(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<html>`) }), "the owner of a token"},
		"no token": {login(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }), "without a user"},
		"endless": {login(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"token": {"user": {"id": "`)
			for range 200 {
				fmt.Fprint(w, strings.Repeat("x", 64<<10))
			}
		}), "longer than 4 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newCloud(t)
			cl.set(func() { cl.instead = c.answer })
			who, err := cl.client(t, nil).Identify(t.Context(), "a", false)
			if err == nil || errors.Is(err, auth.ErrUnknownToken) || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "script") {
				t.Errorf("%+v, %v; expected an error with %q, which says that nobody can be asked", who, err, c.want)
			}
		})
	}
	away := newCloud(t)
	k := away.client(t, nil)
	away.Close()
	if _, err := k.Identify(t.Context(), "a", false); err == nil || errors.Is(err, auth.ErrUnknownToken) {
		t.Errorf("away: %v", err)
	}
}

// TestHostileToken: nothing that is no token is passed on.
func TestHostileToken(t *testing.T) {
	c := newCloud(t)
	k := c.client(t, nil)
	for _, token := range []string{"a\r\nX-Auth-Token: b", "a b", "ä", "\x00", strings.Repeat("x", 9<<10)} {
		if _, err := k.Identify(t.Context(), token, false); !errors.Is(err, auth.ErrUnknownToken) {
			t.Errorf("%.20q: %v", token, err)
		}
	}
	if c.asked.Load() != 0 || c.logins.Load() != 0 {
		t.Error("Keystone was asked")
	}
}

func TestService(t *testing.T) {
	k := newCloud(t).client(t, nil)
	s, err := k.Service(t.Context(), "image")
	if err != nil || s.Endpoint != "http://glance:9292/" || s.Token() != "own-1" {
		t.Errorf("%+v, %v", s, err)
	}
	for kind, want := range map[string]string{
		"odd": `is "file:///etc": expected http(s)://HOST`, "network": "it has no service of the type network",
	} {
		if _, err := k.Service(t.Context(), kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; expected %q", kind, err, want)
		}
	}
}

// TestRegion: of a service that is in several regions, the chosen one's is asked, and no other's in its place.
func TestRegion(t *testing.T) {
	for region, want := range map[string]string{
		"":      "http://inner-south:8774/",
		"south": "http://inner-south:8774/",
		"north": "http://north:8774/",
		"South": `no service of the type compute in the region "South": correct --keystone-region; there are ["north" "south"]`,
	} {
		k := newCloud(t).client(t, func(o *keystone.Options) { o.Region = region })
		s, err := k.Service(t.Context(), "compute")
		if err == nil && s.Endpoint != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("region %q: %+v, %v; expected %s", region, s, err, want)
		}
	}
	k := newCloud(t).client(t, func(o *keystone.Options) { o.Region = "south" })
	if _, err := k.Service(t.Context(), "network"); err == nil || strings.Contains(err.Error(), "region") {
		t.Errorf("a service that is in no region: %v", err)
	}
	if s, err := k.Service(t.Context(), ""); err != nil || !strings.HasSuffix(s.Endpoint, "/v3/") {
		t.Errorf("Keystone itself: %+v, %v", s, err)
	}
}

func TestOptions(t *testing.T) {
	c := newCloud(t)
	for _, at := range []string{"", "keystone:5000", "ftp://x", "http://u:p@x", "http://", "http://x?y", "http://\x00"} {
		if _, err := keystone.New(keystone.Options{URL: at, User: "u", Project: "p", Domain: "d",
			Password: func() (string, error) { return "", nil }}); err == nil {
			t.Errorf("%q was taken", at)
		}
	}
	for _, at := range []string{c.URL, c.URL + "/", c.URL + "/v3", c.URL + "/v3/", c.URL + "/v2.0",
		c.URL + "/v2.0/tokens", c.URL + "/v3/auth/tokens/"} {
		if k := c.client(t, func(o *keystone.Options) { o.URL = at }); k.URL() != c.URL+"/v3" {
			t.Errorf("%s becomes %s", at, k.URL())
		}
	}
	broken := errors.New("no such file")
	k := c.client(t, func(o *keystone.Options) { o.Password = func() (string, error) { return "", broken } })
	if _, err := k.Identify(t.Context(), "a", false); !errors.Is(err, broken) {
		t.Errorf("a password that cannot be read: %v", err)
	}
}
