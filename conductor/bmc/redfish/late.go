package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
)

// A BMC may make a session and answer after the caller has given up: the BMC is slow, or this conductor was stopped for
// a while and leads no more. BMCs have room for some 16 sessions, and keep one for half an hour or more after its last
// use. So the driver waits for such an answer a while longer, and ends the session.

// lateLogin bounds the wait for the answer to a login after its caller has given up.
const lateLogin = 2 * time.Minute

// makesSession reports whether a request is a login (DSP0266, 13.3.4.2).
func makesSession(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), "/Sessions")
}

// lateLogins are logins with callers that have given up.
type lateLogins struct {
	mu    sync.Mutex
	ended []<-chan struct{}
}

// begin does something that await waits for.
func (l *lateLogins) begin(do func()) {
	done := make(chan struct{})
	l.mu.Lock()
	l.ended = append(l.ended, done)
	l.mu.Unlock()
	go func() {
		defer close(done)
		do()
	}()
}

// await waits until those that were begun have ended, or ctx has.
func (l *lateLogins) await(ctx context.Context) {
	l.mu.Lock()
	ended := l.ended
	l.ended = nil
	l.mu.Unlock()
	for _, done := range ended {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// logIn sends a login, and ends the session of an answer that comes too late. The requests that follow have another
// connection then.
func (w *wire) logIn(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	transport := w.next
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), max(lateLogin, w.timeout))
	type result struct {
		answer *http.Response
		err    error
	}
	answered := make(chan result, 1)
	go func() {
		answer, err := transport.RoundTrip(r.Clone(ctx)) //nolint:bodyclose // whoever gets the answer closes it
		answered <- result{answer, err}
	}()
	select {
	case got := <-answered:
		if got.err != nil {
			cancel()
			return nil, got.err
		}
		stop := context.AfterFunc(r.Context(), cancel) // from here on the caller knows the session
		got.answer.Body = &cancelling{got.answer.Body, func() { stop(); cancel() }}
		return got.answer, nil
	case <-r.Context().Done():
		w.next = w.form.Clone()
		w.late.begin(func() {
			defer cancel()
			defer transport.CloseIdleConnections()
			if got := <-answered; got.err == nil {
				body, err := io.ReadAll(io.LimitReader(got.answer.Body, maxLate))
				_ = errors.Join(err, got.answer.Body.Close()) // the session is in the headers of most
				w.endUnwanted(got.answer, body)
			}
		})
		return nil, r.Context().Err()
	}
}

// maxLate bounds the bytes that are read of an answer that came too late.
const maxLate = 64 << 10

// cancelling is a body. Its Close cancels the request.
type cancelling struct {
	io.ReadCloser
	cancel func()
}

// Close closes the body.
func (c *cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// endUnwanted ends the session of a login with an answer that came too late, or that cannot be read.
func (w *wire) endUnwanted(answer *http.Response, body []byte) {
	token := answer.Header.Get("X-Auth-Token")
	if answer.StatusCode >= http.StatusBadRequest || token == "" {
		return // there is no session
	}
	path := ""
	if at, err := answer.Location(); err == nil {
		path = at.RequestURI() // the BMC may name another host, or port
	}
	if path == "" {
		var made struct {
			ID string `json:"@odata.id"`
		}
		_ = json.Unmarshal(body, &made) // a body that is not JSON has no path
		path = made.ID
	}
	if !strings.HasPrefix(path, "/") {
		w.log.Warn("a session that was lost was not ended: the BMC does not say where it is")
		return
	}
	if err := w.farewell(context.Background(), Session{Path: path, Token: token}); err != nil {
		w.log.Warn("a session that was lost was not ended; it expires by itself", "err", err)
		return
	}
	w.log.Info("a session that was lost was ended")
}

// farewell ends a session of our own by a connection of its own. A former leader sends it, too: no other conductor
// knows that session, so none is harmed.
func (w *wire) farewell(ctx context.Context, s Session) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.base+s.Path, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("X-Auth-Token", s.Token)
	transport := w.form.Clone()
	transport.DialContext = dialWithin(dial.Unchecked(w.dialer), w.timeout)
	transport.DisableKeepAlives = true
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if ended(answer.StatusCode) {
		return nil
	}
	return &endError{answer.Status}
}

// ended reports whether the answer to the end of a session means that the session is gone.
func ended(status int) bool {
	switch status {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusUnauthorized, http.StatusNotFound:
		return true
	}
	return false
}
