package traces_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadTargets: nonsense is refused before anything is sent, and no secret is in the error.
func TestBadTargets(t *testing.T) {
	for name, tc := range map[string]struct{ endpoint, headers, ca, want string }{
		"no URL":            {"collector:4318", "", "", "expected the http(s) URL"},
		"another scheme":    {"grpc://collector:4317", "", "", "expected the http(s) URL"},
		"no host":           {"http:///v1/traces", "", "", "expected the http(s) URL"},
		"control character": {"http://a\x00b", "", "", "expected the http(s) URL"},
		"credentials":       {"http://ada:s3cret@collector", "", "", "credentials"},
		"a query":           {"http://collector/?token=s3cret", "", "", "a query or a fragment"},
		"a fragment":        {"http://collector/#a", "", "", "a query or a fragment"},
		"no such headers":   {"http://collector", "/nonexistent", "", "no such file"},
		"no header":         {"http://collector", file(t, "# ours\n\nAuthorization Bearer s3cret\n"), "", "line 3"},
		"no value":          {"http://collector", file(t, "Authorization:\n"), "", "line 1"},
		"a bad name":        {"http://collector", file(t, "Ä: s3cret\n"), "", "line 1"},
		"a bad value":       {"http://collector", file(t, "A: s3cret\x01\n"), "", "line 1"},
		"ours":              {"http://collector", file(t, "content-type: text/plain\n"), "", "the program's own"},
		"too large":         {"http://collector", file(t, strings.Repeat("a: b\n", 20_000)), "", "there may be"},
		"no such CA":        {"https://collector", "", "/nonexistent", "no such file"},
		"no certificate":    {"https://collector", "", file(t, "s3cret"), "found none"},
		"CA for http":       {"http://collector", "", pemFile(t), "say https"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := traces.NewTarget(tc.endpoint, tc.headers, tc.ca)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

// pemFile has the certificate of a server.
func pemFile(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	return file(t, certificate(s))
}
