package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestCrossOrigin: a browser's requests for a page of another site change nothing,
// on any path; clients that are no browsers are not affected.
func TestCrossOrigin(t *testing.T) {
	const mounted = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts"
	reached := 0
	c := &conductor{t: t, Conductor: apitest.Start(t, mem.New(), func(*engine.Engine) map[string]rest.Handler {
		return map[string]rest.Handler{"/apis": func(w http.ResponseWriter, _ *http.Request) error {
			reached++
			w.WriteHeader(http.StatusCreated)
			return nil
		}}
	})}
	for name, tc := range map[string]struct {
		header  []string
		refused bool
	}{
		"no browser": {nil, false},
		"another site's form": {
			[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, true,
		},
		"a sibling of the site": {[]string{"Sec-Fetch-Site", "same-site"}, true},
		"an older browser":      {[]string{"Origin", "https://evil.example"}, true},
		"a sandboxed page":      {[]string{"Origin", "null"}, true},
		"a page of our own":     {[]string{"Sec-Fetch-Site", "same-origin"}, false},
		"typed by its user":     {[]string{"Sec-Fetch-Site", "none"}, false},
	} {
		for _, path := range []string{"/v1/nodes", "/nodes", mounted} {
			ask := func(method string) reply {
				r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path,
					strings.NewReader(`{"driver":"fake-hardware"}`))
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(tc.header); i += 2 {
					r.Header.Set(tc.header[i], tc.header[i+1])
				}
				return c.send(r)
			}
			want, before := http.StatusCreated, reached
			if tc.refused {
				want = http.StatusForbidden
			}
			if r := ask(http.MethodPost); r.status != want || tc.refused && reached != before {
				t.Errorf("%s: POST %s: %d %s, want %d", name, path, r.status, r.body, want)
			}
			if r := ask(http.MethodGet); r.status >= http.StatusBadRequest {
				t.Errorf("%s: GET %s: %d %s", name, path, r.status, r.body)
			}
		}
	}
}
