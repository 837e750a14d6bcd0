package ui

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// page is a build: a page, and a script with a hash in its name. Brotli is any text here, since no test decodes it.
func page(t *testing.T) *handler {
	t.Helper()
	return &handler{files: load(fstest.MapFS{
		"README":             {Data: []byte("not shown")},
		"index.html.gz":      {Data: gzipped("<p>page</p>")},
		"index.html.br":      {Data: []byte("brotli page")},
		"assets/a-1.js.gz":   {Data: gzipped("script")},
		"assets/a-1.js.br":   {Data: []byte("brotli script")},
		"icon.svg.gz":        {Data: gzipped("<svg/>")},
		"assets/broken.js":   {Data: []byte("not compressed, not shown")},
		"assets/old-2.js.br": {Data: []byte("without gzip, not shown")},
	})}
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// TestServe: a file in the best form that the client takes, pages of the interface by any path, and how long each is
// kept.
func TestServe(t *testing.T) {
	const noCache, forEver = "no-cache", "public, max-age=31536000, immutable"
	for name, tc := range map[string]struct {
		path, accept string
		status       int
		body, coding string
		kind, cache  string
	}{
		"page":              {"/ui/", "gzip, deflate, br", 200, "brotli page", "br", "text/html", noCache},
		"page by name":      {"/ui/index.html", "br", 200, "brotli page", "br", "text/html", noCache},
		"a machine":         {"/ui/machines/web-1", "br", 200, "brotli page", "br", "text/html", noCache},
		"a way up":          {"/ui/../v1", "br", 200, "brotli page", "br", "text/html", noCache},
		"gzip":              {"/ui/", "gzip", 200, "<p>page</p>", "gzip", "text/html", noCache},
		"plain":             {"/ui/", "", 200, "<p>page</p>", "", "text/html", noCache},
		"brotli refused":    {"/ui/", "br;q=0, gzip;q=0.5", 200, "<p>page</p>", "gzip", "text/html", noCache},
		"script":            {"/ui/assets/a-1.js", "br", 200, "brotli script", "br", "text/javascript", forEver},
		"icon":              {"/ui/icon.svg", "gzip", 200, "<svg/>", "gzip", "image/svg+xml", noCache},
		"of another build":  {"/ui/assets/old-2.js", "br", 404, "There is no such file", "", "text/plain", ""},
		"not made by pack":  {"/ui/assets/broken.js", "br", 404, "There is no such file", "", "text/plain", ""},
		"a file of our own": {"/ui/README", "br", 200, "brotli page", "br", "text/html", noCache},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.path, http.NoBody)
			r.Header.Set("Accept-Encoding", tc.accept)
			w := httptest.NewRecorder()
			page(t).ServeHTTP(w, r)
			h := w.Result().Header
			body := w.Body.Bytes()
			if tc.coding == "gzip" {
				z, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			if w.Code != tc.status || !strings.HasPrefix(string(body), tc.body) || h.Get("Content-Encoding") != tc.coding ||
				!strings.HasPrefix(h.Get("Content-Type"), tc.kind) || h.Get("Cache-Control") != tc.cache {
				t.Errorf("%d %q %v", w.Code, body, h)
			}
			for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'",
				"require-trusted-types-for 'script'"} {
				if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, want) ||
					strings.Contains(policy, "unsafe") {
					t.Errorf("policy %q lacks %q, or is unsafe", policy, want)
				}
			}
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("headers %v", h)
			}
			if tc.status == http.StatusOK {
				revalidate(t, r, h.Get("ETag"))
			}
		})
	}
}

// revalidate asks for a file that the client has.
func revalidate(t *testing.T, r *http.Request, tag string) {
	t.Helper()
	r.Header.Set("If-None-Match", `"other", W/`+tag)
	w := httptest.NewRecorder()
	page(t).ServeHTTP(w, r)
	if tag == "" || w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("the same file again: %d, tag %s", w.Code, tag)
	}
}

// TestMethods: the interface takes no requests that change something.
func TestMethods(t *testing.T) {
	for method, want := range map[string]int{"HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405} {
		w := httptest.NewRecorder()
		page(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/ui/", http.NoBody))
		if w.Code != want || method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// TestBefore: browsers are led to the interface, and the API has all other paths.
func TestBefore(t *testing.T) {
	h := Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), nil)
	for _, tc := range []struct {
		path, accept string
		status       int
	}{
		{"/", "text/html,application/xhtml+xml,*/*;q=0.8", 302},
		{"/", "application/json", 418},
		{"/", "*/*", 418},
		{"/ui", "", 302},
		{"/ui/", "", 200},
		{"/uix", "text/html", 418},
		{"/v1/nodes", "text/html", 418},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.path, http.NoBody)
		r.Header.Set("Accept", tc.accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.status {
			t.Errorf("%s for %q: %d, want %d", tc.path, tc.accept, w.Code, tc.status)
		}
	}
}

// TestNotBuilt: a program without the interface says how to build it.
func TestNotBuilt(t *testing.T) {
	w := httptest.NewRecorder()
	h := &handler{files: load(fstest.MapFS{"README": {Data: []byte("x")}})}
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ui/", http.NoBody))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "make ui build") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
