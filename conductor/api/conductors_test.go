package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestConductorIsAlive: clients that judge by updated_at see that the conductor is alive.
func TestConductorIsAlive(t *testing.T) {
	c := newConductor(t)
	doc := c.must(http.StatusOK, 115, "GET", "/v1/conductors/conductor-1", "").doc(t)
	for _, field := range []string{"created_at", "updated_at"} {
		text, _ := doc[field].(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || time.Since(at) > time.Minute {
			t.Errorf("%s: %v, %v", field, doc[field], err)
		}
	}
}

// onlyMember is a cluster of one.
type onlyMember struct{}

func (onlyMember) Members(context.Context) ([]nodeapi.Conductor, error) {
	return []nodeapi.Conductor{{Name: "c1"}}, nil
}

func (onlyMember) Drain(context.Context, string, bool) error { return nil }

// TestConductorsOfMember: behind a proxy, every member's own answers have links that clients can follow. It accepts
// requests from pages of the public URL.
func TestConductorsOfMember(t *testing.T) {
	const public = "https://cloud.example/metal"
	h := api.NewConductors(onlyMember{}, api.Options{Log: slog.New(slog.DiscardHandler), PublicURL: public})
	send := func(method, path, body string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set(nodeapi.HeaderVersion, "latest")
		r.Header.Set("Origin", "https://cloud.example")
		h.ServeHTTP(w, r)
		return w
	}
	if w := send("GET", "/v1/conductors", ""); !strings.Contains(w.Body.String(), public+"/v1/conductors/c1") {
		t.Errorf("links: %s", w.Body)
	}
	if w := send("PUT", nodeapi.ConductorsPath+"/c1/drained", `{"drained":true}`); w.Code != http.StatusNoContent {
		t.Errorf("drain: %d %s", w.Code, w.Body)
	}
}
