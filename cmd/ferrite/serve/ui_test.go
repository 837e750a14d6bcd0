package serve

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// TestWebInterface: the pages of the interface and of the documentation are served without a login, whether the API
// requires one or not; the API beside them is served as ever.
func TestWebInterface(t *testing.T) {
	open := servetest.Start(t, Command(), t.TempDir())
	t.Cleanup(func() { open.End(t) })
	guarded := servetest.StartGuarded(t, Command(), true)
	guarded.Sign = nil
	for name, c := range map[string]*servetest.Conductor{"--auth none": open, "--auth basic,token": guarded.Conductor} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/ui/", "/ui/machines/web-1", "/ui/docs", "/ui/docs/operate/deploy.html"} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				client := c.HTTP
				if client == nil {
					client = http.DefaultClient
				}
				a, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = a.Body.Close()
				if a.StatusCode != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
					t.Errorf("%s answers %d %v", path, a.StatusCode, a.Header)
				}
			}
		})
	}
	open.Call(t, "GET", "/v1/nodes", nil, http.StatusOK)
	guarded.Call(t, "GET", "/v1/nodes", nil, http.StatusUnauthorized)
}
