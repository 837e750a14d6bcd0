package redfish

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/dial"
)

// A BMC may make a session and answer only when nobody waits for it any longer: it is slow, or this conductor was
// stopped for a while and leads no more. BMCs have room for some 16 sessions, and keep one for half an hour or more
// after its last use. So the answer to a login is waited for in any case, and a session that nobody wants is ended.

// lateLogin bounds the wait for the answer to a login that nobody waits for.
const lateLogin = 2 * time.Minute

// makesSession reports whether a request is a login (DSP0266, 13.3.4.2).
func makesSession(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), "/Sessions")
}

// logIn sends a login, and ends the session of an answer that comes too late.
func (w *wire) logIn(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), max(lateLogin, w.timeout))
	type result struct {
		answer *http.Response
		err    error
	}
	answered := make(chan result, 1)
	go func() {
		answer, err := w.next.RoundTrip(r.Clone(ctx)) //nolint:bodyclose // whoever gets the answer closes it
		answered <- result{answer, err}
	}()
	select {
	case got := <-answered:
		if got.err != nil {
			cancel()
			return nil, got.err
		}
		got.answer.Body = &cancelling{got.answer.Body, cancel}
		return got.answer, nil
	case <-r.Context().Done():
		w.late.Go(func() {
			defer cancel()
			if got := <-answered; got.err == nil {
				_ = got.answer.Body.Close() // the session is in the headers
				w.endLate(ctx, got.answer)
			}
		})
		return nil, r.Context().Err()
	}
}

// cancelling is a body whose request is cancelled with its end.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (c *cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// endLate ends the session of an answer that came too late.
func (w *wire) endLate(ctx context.Context, answer *http.Response) {
	at, err := answer.Location()
	token := answer.Header.Get("X-Auth-Token")
	if answer.StatusCode >= http.StatusBadRequest || err != nil || token == "" || origin(at) != w.base {
		return
	}
	if err := w.farewell(ctx, Session{Path: at.Path, Token: token}); err != nil {
		w.log.Warn("a session that the BMC has made too late was not ended, it will run out by itself", "err", err)
		return
	}
	w.log.Info("a session that the BMC has made too late was ended")
}

// farewell ends a session of our own by a connection of its own. It is sent by a conductor that leads no more, too: no
// other knows that session, and nobody else is harmed.
func (w *wire) farewell(ctx context.Context, s Session) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.base+s.Path, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("X-Auth-Token", s.Token)
	transport := w.next.Clone()
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

// ended reports whether the answer to the end of a session says that there is none any more.
func ended(status int) bool {
	switch status {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusUnauthorized, http.StatusNotFound:
		return true
	}
	return false
}

// awaitLate waits until the logins that nobody waits for have ended, or ctx has.
func (w *wire) awaitLate(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		w.late.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
