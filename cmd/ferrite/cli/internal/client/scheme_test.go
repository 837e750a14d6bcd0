package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
)

// TestSchemeMismatch: https to a conductor without TLS is an error at once, without a wait.
func TestSchemeMismatch(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	c := client{Base: strings.Replace(srv.URL, "http://", "https://", 1), http: srv.Client(), login: &login{}}
	err := c.Do(t.Context(), http.MethodGet, "/v1", nil, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "speaks plain HTTP: use "+srv.URL+" in --url or FERRITE_URL") ||
		Passing(err) || exit.Of(err) != exit.Unreachable {
		t.Errorf("%v, status %d", err, exit.Of(err))
	}
}
