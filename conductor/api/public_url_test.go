package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestPublicURL: behind a proxy that ends TLS, strips a path and replaces Host (nginx's proxy_pass does), links lead to
// the proxy, and the proxy's own pages may send requests.
func TestPublicURL(t *testing.T) {
	const public = "https://cloud.example/metal"
	c := apitest.Start(t, mem.New(), nil, func(o *api.Options) { o.PublicURL = public + "/" })
	send := func(method, path, origin, body string) (*http.Response, map[string]any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", origin)
		answer, err := c.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var got map[string]any
		_ = json.NewDecoder(answer.Body).Decode(&got) // an answer may have no body
		return answer, got
	}
	for range 2 {
		made, _ := send("POST", "/v1/nodes", "https://cloud.example", `{"driver": "fake-hardware"}`)
		if made.StatusCode != http.StatusCreated || !strings.HasPrefix(made.Header.Get("Location"), public+"/v1/nodes/") {
			t.Errorf("%s, Location %s", made.Status, made.Header.Get("Location"))
		}
	}
	_, list := send("GET", "/v1/nodes?limit=1", "", "")
	if next, _ := list["next"].(string); !strings.HasPrefix(next, public+"/v1/nodes?") {
		t.Errorf("next is %v", list["next"])
	}
	if other, _ := send("POST", "/v1/nodes", "https://elsewhere.example", `{}`); other.StatusCode != 403 {
		t.Errorf("a page of another site: %s", other.Status)
	}
}
