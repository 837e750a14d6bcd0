package rest

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// TestForeignLines: the log of requests that anybody can send is bounded in lines. Its handler bounds their bytes.
func TestForeignLines(t *testing.T) {
	var text bytes.Buffer
	s := NewServer(Options{Log: slog.New(slog.NewTextHandler(&text, nil)), Rules: auth.NewRules(nil)})
	r := httptest.NewRequest(http.MethodPost, "/v1/nodes", nil)
	r.Header.Set("Origin", "http://evil")
	for range 300 {
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	if lines := bytes.Count(text.Bytes(), []byte("\n")); lines < 1 || lines > 250 {
		t.Errorf("300 requests wrote %d lines, expected 200", lines)
	}
}
