package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
)

// TestSilence: a handler that returns without an answer has not succeeded.
func TestSilence(t *testing.T) {
	c := newConductor(t)
	for path, h := range map[string]rest.Handler{
		"/silent": func(http.ResponseWriter, *http.Request) error { return nil },
		"/header": func(w http.ResponseWriter, _ *http.Request) error { w.Header().Set("X-A", "b"); return nil },
		"/said":   func(w http.ResponseWriter, _ *http.Request) error { w.WriteHeader(http.StatusNoContent); return nil },
	} {
		log := &strings.Builder{}
		a := api.New(api.Options{Conductor: c.Engine, Log: slog.New(slog.NewTextHandler(log, nil)),
			Mounts: map[string]rest.Handler{path: h}})
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil))
		want := map[string]int{"/said": http.StatusNoContent}[path]
		if want == 0 {
			want = http.StatusInternalServerError
		}
		if w.Code != want || strings.Contains(log.String(), "answered nothing") != (want == http.StatusInternalServerError) {
			t.Errorf("%s: %d, want %d; logged %q", path, w.Code, want, log)
		}
	}
}
