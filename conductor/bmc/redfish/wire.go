package redfish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// wire is the transport to one BMC: one request at a time from the first byte
// sent to the last received, each with a deadline and a trace.
type wire struct {
	next     *http.Transport
	budget   budget
	base     string // scheme://host[:port]
	root     string
	timeout  time.Duration
	log      *slog.Logger
	turn     sync.Mutex
	requests atomic.Int64
}

func newWire(o *Options, t *target) (*wire, error) {
	conf, err := t.tlsConfig(o.CAs)
	if err != nil {
		return nil, err
	}
	return &wire{
		// No proxy: BMCs are on a network of their own. HTTP/1.1: what they know.
		next: &http.Transport{DialContext: o.Dialer.DialContext, TLSClientConfig: conf, MaxConnsPerHost: 1,
			IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: maxHeader},
		base: t.base, root: t.root, timeout: o.RequestTimeout, log: o.Log.With("bmc", t.base),
	}, nil
}

func (w *wire) close() { w.next.CloseIdleConnections() }

// RoundTrip sends one request and reads the whole answer.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), w.timeout)
	defer cancel()
	w.requests.Add(1)
	r = r.Clone(ctx)
	if r.URL.Path == defaultRoot {
		r.URL.Path = w.root
	}
	start := time.Now()
	answer, err := w.exchange(r)
	took := time.Since(start)
	trace := []any{"method", r.Method, "path", r.URL.Path, "ms", took.Milliseconds()}
	if err != nil {
		w.log.Debug("redfish call", append(trace, "err", err)...)
		return nil, &wireError{r.Method, r.URL.Path, took, err}
	}
	w.log.Debug("redfish call", append(trace, "status", answer.StatusCode)...)
	return answer, nil
}

// exchange does the work of RoundTrip. The answer it returns is in memory.
func (w *wire) exchange(r *http.Request) (*http.Response, error) {
	if r.URL.User != nil || r.URL.Scheme+"://"+r.URL.Host != w.base {
		return nil, errors.New("the BMC links to another host, which is not followed")
	}
	most, err := w.budget.ask()
	if err != nil {
		return nil, err
	}
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if err := errors.Join(w.budget.spend(len(body)), checkAnswer(r.Method, answer, body)); err != nil {
		return nil, err
	}
	if _, err := answer.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
		return nil, errors.New("the answer's Location is no URL")
	}
	if answer.StatusCode >= http.StatusBadRequest && !isRedfishError(body) {
		body = foreignError(kindOf(answer, body))
	}
	// Strings of firmware are padded with NUL, and go to the store and to terminals.
	answer.Body = io.NopCloser(bytes.NewReader(nodeapi.CleanJSON(body)))
	return answer, nil
}

// sameHost keeps tokens and passwords from following a redirect elsewhere.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > 5 {
		where := "another host"
		if r.URL.Hostname() == first.Hostname() {
			where = r.URL.Scheme
		}
		return fmt.Errorf("redirected to %s, which is not followed: set redfish_address to where the BMC is", where)
	}
	return nil
}
