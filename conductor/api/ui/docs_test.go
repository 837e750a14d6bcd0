package ui

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// TestDocumentation: pages are rendered once for all callers and kept compressed; pictures are not kept.
func TestDocumentation(t *testing.T) {
	pages, read := map[string]string{"index.html": "all pages", "operate/index.html": "operate", "search.js": "words",
		"x.png": "a picture"}, 0
	h := &handler{docs: &docs{read: func(name string) ([]byte, error) {
		text, ok := pages[name]
		if name == "operate" {
			return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
		}
		if !ok {
			return nil, fs.ErrNotExist
		}
		read++
		return []byte(text), nil
	}}}
	for _, c := range []struct {
		path   string
		status int
		kind   string
		text   string
	}{
		{"/ui/docs", http.StatusFound, "text/html", "docs/"},
		{"/ui/docs/", http.StatusOK, "text/html", "all pages"},
		{"/ui/docs/index.html", http.StatusOK, "text/html", "all pages"},
		{"/ui/docs/operate", http.StatusFound, "text/html", "/ui/docs/operate/"},
		{"/ui/docs/operate/", http.StatusOK, "text/html", "operate"},
		{"/ui/docs/search.js", http.StatusOK, "text/javascript", "words"},
		{"/ui/docs/x.png", http.StatusOK, "image/png", "a picture"},
		{"/ui/docs/no", http.StatusNotFound, "text/plain", "no such page"},
		{"/ui/docs/no.html", http.StatusNotFound, "text/plain", "no such page"},
		{"/ui/docs/../secret", http.StatusNotFound, "text/plain", "no such page"},
	} {
		for range 2 {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody))
			if w.Code != c.status || !strings.HasPrefix(w.Header().Get("Content-Type"), c.kind) ||
				!strings.Contains(w.Body.String(), c.text) {
				t.Errorf("%s: %d %v %s", c.path, w.Code, w.Header(), w.Body)
			}
			if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'") {
				t.Errorf("%s has the policy %q", c.path, policy)
			}
		}
	}
	if read != 5 || len(h.docs.files) != 3 {
		t.Errorf("%d files are read and %d kept; expected three pages once, a picture twice", read, len(h.docs.files))
	}
}
