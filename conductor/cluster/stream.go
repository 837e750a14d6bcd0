package cluster

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// answered gives a leader's answer without an end, such as a watch, a place, because it takes a connection here. The
// leader has authenticated its user by then. Such an answer ends in order when its leader does: clients of watches then
// watch again. Other answers end with an error, so that the missing part shows.
func (f *Front) answered(answer *http.Response) error {
	if !endless(answer) {
		return nil
	}
	to := wayOf(answer.Request)
	leave, err := f.streams.Open(connlimit.Reader{User: connlimit.Network(to.from).String(), Kind: "forwarded",
		Local: to.from.IsLoopback()}, to.cancel)
	if err != nil {
		return err
	}
	if to.leave = leave; answer.StatusCode == http.StatusOK { // and no console
		answer.Body = &cleanEnd{answer.Body}
	}
	return nil
}

func endless(answer *http.Response) bool {
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return true
	}
	if answer.ContentLength >= 0 || answer.StatusCode != http.StatusOK {
		return false
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return asksEndless(answer.Request) || kind == nodeapi.MediaEvents
}

// asksEndless reports whether a request is one for an answer without an end: a watch, a stream, a console.
func asksEndless(r *http.Request) bool {
	q := r.URL.Query()
	watch, follow := q.Get("watch"), q.Get("follow")
	return r.Method == http.MethodGet && (watch == "1" || watch == "true" || follow == "1" || follow == "true" ||
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket") ||
		strings.Contains(r.Header.Get("Accept"), nodeapi.MediaEvents) ||
		strings.HasPrefix(r.URL.Path, "/api") && strings.Contains(r.URL.Path, "/watch/"))
}

// cleanEnd is a body that ends without an error, even if its source fails.
type cleanEnd struct{ io.ReadCloser }

func (c *cleanEnd) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = io.EOF
	}
	return n, err
}

// pieceTime is how long a client may take for a piece of a forwarded answer, however long the whole goes on.
const pieceTime = 3 * time.Minute

// answering has the time for an answer begin anew with each piece.
type answering struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Unwrap is for http.ResponseController.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Write answers with one piece.
func (a *answering) Write(p []byte) (int, error) {
	if err := a.control.SetWriteDeadline(time.Now().Add(pieceTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return a.ResponseWriter.Write(p)
}
