package rest

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/auth"
)

// TestForeignLines: the log of requests that anybody can send is bounded in lines and bytes.
func TestForeignLines(t *testing.T) {
	var text bytes.Buffer
	s := NewServer(Options{Log: slog.New(slog.NewTextHandler(&text, nil)), Rules: auth.NewRules()})
	r := httptest.NewRequest(http.MethodPost, "/v1/"+strings.Repeat("x", 50_000), nil)
	r.Header.Set("Origin", "http://evil"+strings.Repeat(`"`, 50_000))
	for range 300 {
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	if lines := bytes.Count(text.Bytes(), []byte("\n")); lines < 1 || lines > 250 || text.Len() > lines*1200 {
		t.Errorf("300 requests wrote %d lines and %d bytes, expected 200 lines of at most 1200 bytes", lines, text.Len())
	}
}
