package httpboot

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/pxe"
)

// begins reports whether a request is the beginning of a download: a HEAD fetches nothing, and a
// later range belongs to a download that was seen.
func begins(r *http.Request) bool {
	from := r.Header.Get("Range")
	return r.Method == http.MethodGet && (from == "" || strings.HasPrefix(from, "bytes=0-"))
}

// record completes the event of a request with its machine, once per download.
func (h *handler) record(r *http.Request, e pxe.Event) {
	if !begins(r) {
		return
	}
	e.Service, e.Message, e.IP = pxe.HTTP, r.Method, clientaddr.Of(r)
	e.File = cmp.Or(e.File, r.URL.Path)
	if c, ok := h.known(e.IP, e.MAC); ok && e.MAC == nil {
		e.MAC, e.Arch = c.MAC, c.Arch
	}
	h.Recorder.Record(e)
}

// recordOf is record for a machine that the Booter has answered for. Where another server gives
// the addresses, nothing shows that the caller is that machine.
func (h *handler) recordOf(r *http.Request, c pxe.Client, boot pxe.Boot, e pxe.Event) {
	e.MAC, e.Firmware, e.Arch, e.Known = c.MAC, c.Firmware, c.Arch, !boot.Stranger
	h.record(r, e)
}

// recordScript records the kind of a script.
func (h *handler) recordScript(r *http.Request, c pxe.Client, boot pxe.Boot) {
	switch boot.Action {
	case pxe.Ramdisk:
		h.recordOf(r, c, boot, pxe.Event{Answer: "script that boots a ramdisk"})
	case pxe.Image:
		h.recordOf(r, c, boot, pxe.Event{Answer: "script that boots an image"})
	default:
		h.recordOf(r, c, boot, pxe.Event{Answer: "exit", Reason: cmp.Or(boot.Why, pxe.ReasonNotToBoot)})
	}
}

func size(info fs.FileInfo) string { return fmt.Sprintf("%d bytes", info.Size()) }

// host is the server of a URL. The rest may be signed.
func host(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "another server"
	}
	return u.Host
}

// unserved records requests for paths that nothing is at.
func (h *handler) unserved(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = plainPath(r)
		if _, pattern := mux.Handler(r); pattern == "" {
			h.record(r, pxe.Event{Reason: pxe.ReasonBadPath})
		}
		mux.ServeHTTP(w, r)
	})
}

// plainPath returns the request with a path free of doubled slashes, dots and backslashes. Mux would redirect the
// client to the plain path, and some firmware does not follow redirections.
func plainPath(r *http.Request) *http.Request {
	plain := path.Clean("/" + strings.ReplaceAll(r.URL.Path, `\`, "/"))
	if strings.HasSuffix(r.URL.Path, "/") && plain != "/" {
		plain += "/"
	}
	if plain == r.URL.Path {
		return r
	}
	at, with := *r.URL, *r
	at.Path, at.RawPath = plain, ""
	with.URL = &at
	return &with
}

// recorded records the requests that another handler answers. Its status is the reason. The event
// has only the prefix of the path: the rest may be a ticket.
func (h *handler) recorded(prefix string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(s, r)
		e := pxe.Event{File: prefix, Reason: statusReasons[s.status]}
		switch {
		case e.Reason != "":
		case s.status >= http.StatusBadRequest:
			e.Reason, e.Detail = pxe.ReasonPolicy, fmt.Sprintf("status %d", s.status)
		default:
			e.Answer = "sent"
		}
		h.record(r, e)
	})
}

// statusReasons are the reasons that a handler gives by its status.
var statusReasons = map[int]pxe.Reason{
	http.StatusUnauthorized: pxe.ReasonTicket, http.StatusForbidden: pxe.ReasonTicket,
	http.StatusNotFound: pxe.ReasonExpired, http.StatusGone: pxe.ReasonExpired,
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader sends the header.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ReadFrom keeps the writer's own way to send a file.
func (w *statusWriter) ReadFrom(src io.Reader) (int64, error) { return io.Copy(w.ResponseWriter, src) }
