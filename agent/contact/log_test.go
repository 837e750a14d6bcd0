package contact

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestLog: few lines are sent plain, many packed. An answer that asks for a pause is
// obeyed.
func TestLog(t *testing.T) {
	for name, tc := range map[string]struct {
		lines  []string
		packed bool
		answer int
	}{
		"few":      {[]string{"a", "b"}, false, http.StatusAccepted},
		"many":     {[]string{strings.Repeat("x", packFrom), "b"}, true, http.StatusAccepted},
		"too many": {[]string{"a"}, false, http.StatusTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			sent := agentapi.LogLines{AgentToken: "t", First: 7, Lines: tc.lines}
			var got agentapi.LogLines
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := r.Body
				if r.Header.Get("Content-Encoding") == "gzip" {
					z, err := gzip.NewReader(r.Body)
					if err != nil {
						t.Error(err)
						return
					}
					body = z
				}
				if packed := r.Header.Get("Content-Encoding") == "gzip"; packed != tc.packed ||
					r.URL.Path != "/ferrite/v1/agents/u/log" {
					t.Errorf("%s, packed %v", r.URL.Path, packed)
				}
				if err := json.NewDecoder(body).Decode(&got); err != nil {
					t.Error(err)
				}
				w.WriteHeader(tc.answer)
			}))
			defer srv.Close()
			c := New(Options{URLs: []string{srv.URL}})
			defer c.client.CloseIdleConnections()
			if err := c.Log(t.Context(), "u", sent); Status(err) != tc.answer &&
				(err != nil || tc.answer != http.StatusAccepted) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(sent, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
