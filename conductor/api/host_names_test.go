package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
)

func TestOnlyHosts(t *testing.T) {
	h := api.OnlyHosts([]string{"Metal.example.:443", "10.0.0.1:6385"},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
		slog.New(slog.DiscardHandler))
	for host, want := range map[string]int{
		"": 204, "127.0.0.1": 204, "10.9.9.9:6385": 204, "[::1]:6385": 204, "[::1]": 204, "::1": 204,
		"[fe80::1%25eth0]:1": 204,
		"localhost":          204, "LOCALHOST:6385": 204, "localhost.": 204, "localhost.:6385": 204,
		"metal.example": 204, "METAL.example:25010": 204, "metal.example.": 204, "metal.example.:6385": 204,
		"evil.example": 421, "evil.example:6385": 421, "metal.example.evil.example": 421, "x.metal.example": 421,
		"127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "localhost..": 421, "2130706433": 421, "0x7f.1": 421,
		"[evil.example]:1": 421, "[::1].evil.example": 421, "127.0.0.1:6385:1": 421,
	} {
		for _, path := range []string{"/v1/nodes", "/ui/", "/apis", "/readyz"} {
			r := httptest.NewRequest(http.MethodPost, path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want || want == 421 && !strings.Contains(w.Body.String(), "--allowed-host") {
				t.Errorf("%q: %d, want %d: %s", host, w.Code, want, w.Body)
			}
		}
	}
}
