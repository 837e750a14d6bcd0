package ui

import (
	"net/http"
	"strconv"
	"strings"
)

// Path is where the interface is.
const Path = "/ui/"

// policy lets the page load its own scripts and styles, and call its own conductor, and nothing else: text of a machine
// that became part of the page could run nothing, and send nothing anywhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// handler serves the files.
type handler struct {
	files map[string]*file
	docs  *docs
}

// Before serves the interface, and below it the pages of the documentation, and leaves all other requests to next. A
// browser that opens the conductor's address itself is led to the interface. page returns a file of the documentation
// by its name, or an fs.ErrNotExist.
func Before(next http.Handler, page func(name string) ([]byte, error)) http.Handler {
	h := &handler{files: load(builtFiles()), docs: &docs{read: page}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, Path):
			h.ServeHTTP(w, r)
		case r.URL.Path == strings.TrimSuffix(Path, "/"), r.URL.Path == "/" && fromBrowser(r):
			http.Redirect(w, r, Path, http.StatusFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fromBrowser reports whether a browser opens a page: clients of the API ask for JSON, or for anything.
func fromBrowser(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.Header.Get("Accept"), "text/html")
}

// ServeHTTP answers with a file. Any path that is no file is one of the interface's own pages.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "The web interface answers only GET and HEAD.", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, Path)
	f := h.files[name]
	switch {
	case f != nil:
	case name == "docs":
		http.Redirect(w, r, "docs/", http.StatusFound)
		return
	case strings.HasPrefix(name, docsPath):
		h.docs.serve(w, r, strings.TrimPrefix(name, docsPath))
		return
	case strings.HasPrefix(name, "assets/"):
		http.Error(w, "There is no such file: reload the page.", http.StatusNotFound)
		return
	default:
		f = h.files[index]
	}
	f.send(w, r)
}

// protect sets the headers that keep a page of ours to itself.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// send answers with a file in the best form that the client takes.
func (f *file) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	if f.fixed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	body, encoding, err := f.form(r.Header.Get("Accept-Encoding"))
	if err != nil {
		http.Error(w, "The file of the web interface is damaged: "+err.Error(), http.StatusInternalServerError)
		return
	}
	tag := `"` + f.etag + encoding + `"`
	h.Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// form is the smallest form of a file that a client takes, and its name.
func (f *file) form(accepted string) (body []byte, encoding string, err error) {
	switch {
	case f.brotli != nil && takes(accepted, "br"):
		return f.brotli, "br", nil
	case takes(accepted, "gzip"):
		return f.gzip, "gzip", nil
	}
	body, err = f.plain()
	return body, "", err
}

// takes reads Accept-Encoding (RFC 9110, 12.5.3).
func takes(accepted, encoding string) bool {
	for item := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(item), ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		value, weighed := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
		q, err := strconv.ParseFloat(value, 64)
		return !weighed || err != nil || q > 0
	}
	return false
}

// matches reads If-None-Match: a list of tags, or a star.
func matches(header, tag string) bool {
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), "W/")
		if item == "*" || item == tag {
			return true
		}
	}
	return false
}
