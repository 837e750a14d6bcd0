package importing

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/ironic"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestReachForgetsErrors: an error that Ironic has cleared does not end the wait for a state.
func TestReachForgetsErrors(t *testing.T) {
	answers := []string{
		`{"provision_state": "verifying", "target_provision_state": "manageable", "last_error": "of before"}`,
		`{"provision_state": "adopting", "target_provision_state": "", "last_error": null}`,
		`{"provision_state": "active", "target_provision_state": null, "last_error": null}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(nodeapi.HeaderMaxVersion, nodeapi.Version(nodeapi.MaxMinor))
		switch {
		case r.URL.Path == "/v1/" || r.Method == http.MethodPut:
			_, _ = w.Write([]byte("{}"))
		default:
			_, _ = w.Write([]byte(answers[0]))
			answers = answers[1:]
		}
	}))
	defer s.Close()
	to, err := ironic.Open(t.Context(), ironic.Config{URL: s.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	g := &giving{to: to, every: time.Millisecond}
	if err := g.reach(t.Context(), "/v1/nodes/n", "adopt", "active"); err != nil || len(answers) != 0 {
		t.Errorf("%v, %d answers are left", err, len(answers))
	}
}
