package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan/rules"
)

// TestCallAPI: the answers that are tried again, the number of tries, and the errors.
func TestCallAPI(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []int // the last one again and again
		tries   int32
		want    string // of the error; "" for none
	}{
		"at once":    {[]int{200}, 1, ""},
		"busy":       {[]int{503, 429, 204}, 3, ""},
		"busy still": {[]int{500}, 3, "inspection rule r1: action api-call, tried 3 times: GET from "},
		"not there":  {[]int{404}, 1, "tried 1 times: GET from "},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.Header.Get("X-Key") != "k" || r.URL.RawQuery != "token=pa55" {
					t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
				}
				w.WriteHeader(tc.answers[min(int(tries.Add(1)), len(tc.answers))-1])
			}))
			defer s.Close()
			err := call(t, rules.Call{Rule: "r1", URL: s.URL + "/?token=pa55", Headers: map[string]string{"X-Key": "k"},
				Timeout: time.Minute, Retries: 2})
			if got := tries.Load(); got != tc.tries || (err == nil) != (tc.want == "") || err != nil &&
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("%d tries, %v; want %d, %q", got, err, tc.tries, tc.want)
			}
			if err != nil && (strings.Contains(err.Error(), "pa55") || core.Passing(err)) {
				t.Errorf("%v tells too much, or is tried once more", err)
			}
		})
	}
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close() // no listener there any more
	if err := call(t, rules.Call{Rule: "r1", URL: s.URL + "/?token=pa55", Timeout: time.Minute}); err == nil ||
		strings.Contains(err.Error(), "pa55") {
		t.Errorf("nobody there: %v", err)
	}
}

// TestCallAPIStays: a redirect to another server is not followed, because the headers may hold a token.
func TestCallAPIStays(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server was sent %v", r.Header)
	}))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer s.Close()
	err := call(t, rules.Call{Rule: "r1", URL: s.URL, Headers: map[string]string{"X-Key": "k"}, Timeout: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "which is not followed") {
		t.Errorf("got %v", err)
	}
}

// TestStayThere: a token that went out by TLS does not go out in clear.
func TestStayThere(t *testing.T) {
	for _, c := range []struct {
		from, to string
		follows  bool
	}{
		{"https://h/a", "https://h/b", true}, {"http://h/a", "http://h/b", true}, {"http://h/a", "https://h/b", true},
		{"https://h/a", "http://h/b", false}, {"https://h/a", "https://i/b", false}, {"https://h/a", "https://h:8/b", false},
	} {
		from, to := httptest.NewRequest(http.MethodGet, c.from, nil), httptest.NewRequest(http.MethodGet, c.to, nil)
		if err := stayThere(to, []*http.Request{from}); (err == nil) != c.follows {
			t.Errorf("from %s to %s: %v", c.from, c.to, err)
		}
	}
}

func call(t *testing.T, c rules.Call) error {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = jobs["inspect.call_api"](&job{Jobs: calling(http.DefaultTransport),
		effect: node.Effect{Name: "inspect.call_api", Args: raw}}, t.Context())
	return err
}

func calling(by http.RoundTripper) *Jobs {
	return &Jobs{Core: &core.Core{Config: core.Config{RuleCalls: &http.Client{Transport: by}}}}
}

type refuser struct{ tries int }

func (r *refuser) RoundTrip(*http.Request) (*http.Response, error) {
	r.tries++
	return nil, r
}

func (*refuser) Error() string   { return "not called" }
func (*refuser) Permanent() bool { return true }

// TestCallAPIRefused: the conductor's own client says which addresses are called, once.
func TestCallAPIRefused(t *testing.T) {
	by := &refuser{}
	_, err := jobs["inspect.call_api"](&job{Jobs: calling(by), effect: node.Effect{Args: json.RawMessage(
		`{"url":"http://169.254.169.254/","timeout":60000000000,"retries":9,"backoff":10000}`)}}, t.Context())
	if err == nil || !strings.Contains(err.Error(), "not called") || by.tries != 1 {
		t.Errorf("%d tries: %v", by.tries, err)
	}
}

// TestCallAPIEnds: a conductor that stops does not wait for the next try.
func TestCallAPIEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel()
	}))
	defer s.Close()
	args := fmt.Sprintf(`{"url":%q,"timeout":60000000000,"retries":9,"backoff":10000}`, s.URL)
	if _, err := jobs["inspect.call_api"](&job{Jobs: calling(http.DefaultTransport),
		effect: node.Effect{Args: json.RawMessage(args)}}, ctx); err == nil {
		t.Error("a call that was cut off has succeeded")
	}
}
