package redfish

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// wire is the transport to one BMC: one request at a time from the first byte
// sent to the last received, each with a deadline and a trace.
type wire struct {
	next     *http.Transport
	form     *http.Transport // template of next; it sends nothing
	budget   budget
	base     string // scheme://host[:port]
	root     string
	timeout  time.Duration // of a request
	again    time.Duration // the pause before a request is sent again
	log      *slog.Logger
	turn     sync.Mutex // holds tags
	tags     tagForm    // the ETags that this BMC takes
	requests atomic.Int64
	traced   func(Request)
	shown    func(path string, document []byte)
	dialer   dial.Dialer
	late     lateLogins
	expected []reflect.Type // into which the next document is decoded
	odd      oddities
	decoded  func() // releases the last answer's share of answerBudget
}

func newWire(o *Options, t *target) (*wire, error) {
	conf, err := t.tlsConfig(o.CAs, o.TLS)
	if err != nil {
		return nil, err
	}
	log := o.Log.With("bmc", t.base)
	if t.tls == tlsLegacy {
		log.Warn("the BMC is spoken to by outdated TLS (redfish_tls: legacy): whoever is on its network may read passwords")
	}
	request, connect := cmp.Or(t.request, o.RequestTimeout), cmp.Or(t.connect, o.ConnectTimeout)
	// No proxy: BMCs are on a network of their own. HTTP/1.1: their servers know it. No compression: with it some BMCs
	// give weak ETags, or ETags that end in -gzip, and refuse them afterwards (sushy, connector.py).
	form := &http.Transport{DialContext: dialWithin(o.Dialer, min(connect, request)), TLSClientConfig: conf,
		MaxConnsPerHost: 1, DisableCompression: true, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: maxHeader}
	return &wire{next: form.Clone(), form: form, base: t.base, root: t.root, timeout: request, again: o.Pause, log: log,
		traced: o.Trace, shown: o.Shown, dialer: o.Dialer, odd: oddities{log: log, report: o.Odd}, decoded: func() {}}, nil
}

// expect names the types into which the next document that is asked for is decoded.
func (w *wire) expect(into ...reflect.Type) { w.expected = into }

// dialWithin connects within a time of its own: an address without an answer shows long before a slow BMC has answered
// a request.
func dialWithin(d dial.Dialer, within time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		short, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		conn, err := d.DialContext(short, network, address)
		if err != nil && ctx.Err() == nil && short.Err() != nil {
			return nil, &connectError{within}
		}
		return conn, err
	}
}

func (w *wire) close() { w.next.CloseIdleConnections() }

// RoundTrip sends one request, in the forms that the BMC may take, and reads the whole
// answer.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	r = r.Clone(r.Context())
	if r.URL.Path == defaultRoot {
		r.URL.Path = w.root
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return w.send(r)
	}
	return w.write(r)
}

// send sends a request without compression, and with it where the BMC insists: HPE Gen10
// Plus answers 406 for some registries (sushy, connector.py).
func (w *wire) send(r *http.Request) (*http.Response, error) {
	encoding, busy := "identity", 0
	for {
		answer, err := w.trace(r, encoding)
		switch {
		case err != nil || r.Method != http.MethodGet:
			return answer, err
		case answer.StatusCode == http.StatusNotAcceptable && encoding == "identity":
			encoding = "gzip"
		case answer.StatusCode == http.StatusServiceUnavailable && busy < busyTries:
			busy++
			if pause(r.Context(), w.busyFor(answer)) != nil {
				return answer, nil
			}
		default:
			return answer, nil
		}
	}
}

// busyTries is the number of further requests for a document to a BMC that is busy (503): a document that is missed in
// a long list would look like a part that the machine lacks.
const busyTries = 2

// busyFor is how long the BMC wants to be left alone, within bounds.
func (w *wire) busyFor(answer *http.Response) time.Duration {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil {
		return w.again
	}
	return min(max(time.Duration(min(seconds, 60))*time.Second, w.again), 2*w.again)
}

// trace is one exchange, within its time.
func (w *wire) trace(r *http.Request, encoding string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), w.timeout)
	defer cancel()
	w.requests.Add(1)
	r = r.Clone(ctx)
	r.Header.Set("Accept-Encoding", encoding)
	start := time.Now()
	answer, odd, err := w.exchange(r)
	took := time.Since(start)
	told := exchange.Exchange{Protocol: exchange.Redfish, Name: r.Method + " " + r.URL.Path, Method: r.Method,
		Path: r.URL.Path, Server: w.base, Began: start, Err: err}
	if err == nil {
		told.Status, told.Note = answer.StatusCode, noteOf(odd)
	}
	exchange.Ended(ctx, told)
	trace := []any{"method", r.Method, "path", r.URL.Path, "ms", took.Milliseconds()}
	if w.traced != nil {
		seen := Request{Method: r.Method, Path: r.URL.Path, Took: took}
		if err == nil {
			seen.Status = answer.StatusCode
		}
		w.traced(seen)
	}
	if err != nil {
		w.log.Debug("redfish call", append(trace, "err", err)...)
		if isDocument(err) {
			return nil, err
		}
		return nil, &wireError{r.Method, r.URL.Path, took, err}
	}
	w.log.Debug("redfish call", append(trace, "status", answer.StatusCode)...)
	return answer, nil
}

// exchange does the work of RoundTrip. The answer it returns is in memory.
func (w *wire) exchange(r *http.Request) (*http.Response, []Oddity, error) {
	if r.URL.User != nil || origin(r.URL) != w.base {
		return nil, nil, &documentError{r.URL.Path, "the BMC links to another host, which is not followed"}
	}
	w.decoded() // an answer is decoded before the next is asked for
	most, err := w.budget.ask()
	if err != nil {
		return nil, nil, err
	}
	send := w.next.RoundTrip
	if makesSession(r) {
		send = w.logIn
	}
	answer, err := send(r)
	if err != nil {
		return nil, nil, err
	}
	body, err := w.accept(r, answer, most)
	if err != nil {
		w.decoded()
		if makesSession(r) {
			w.late.begin(func() { w.endUnwanted(answer, body) })
		}
		return nil, nil, err
	}
	if answer.StatusCode == http.StatusBadRequest && r.URL.Scheme == "http" && bytes.Contains(body, []byte("HTTPS")) &&
		!isRedfishError(body) {
		return nil, nil, errors.New("the port speaks TLS: begin redfish_address with https://")
	}
	if answer.StatusCode >= http.StatusBadRequest && !isRedfishError(body) {
		body = foreignError(kindOf(answer, body))
	}
	// Strings of firmware are padded with NUL, and go to the store and to terminals.
	body = nodeapi.CleanJSON(body)
	var odd []Oddity
	if isADocument(r.Method, answer) {
		if w.shown != nil {
			w.shown(r.URL.Path, body)
		}
		paths, whole := ownLinks(body, w.base)
		if body, odd, err = mend(r.Context(), r.URL.Path, paths, w.expected...); err != nil {
			w.decoded()
			return nil, nil, err
		}
		if whole {
			odd = append(odd, Oddity{r.URL.Path, "@odata.id", "a whole URL", "followed by its path"})
		}
		w.odd.note(odd...)
		w.expected = nil
	}
	answer.Body = &cancelling{io.NopCloser(bytes.NewReader(body)), w.decoded}
	return answer, odd, nil
}

// answerBudget is for the answers of all BMCs, until they are decoded.
var answerBudget = exchange.NewBudget(roomSize, exchange.FreeAnswer)

const roomSize = 64 << 20

// done releases the last answer's share of answerBudget, if its body was never closed.
func (w *wire) done() {
	if w.turn.TryLock() {
		defer w.turn.Unlock()
		w.decoded()
	}
}

// accept reads an answer, and refuses it if it cannot be right.
func (w *wire) accept(r *http.Request, answer *http.Response, most int) ([]byte, error) {
	body, err := w.read(r.Context(), answer, most)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		err = fmt.Errorf("read the answer: %w", err)
		if isADocument(r.Method, answer) && r.Context().Err() == nil {
			err = &documentError{r.URL.Path, "the BMC closed the connection in the middle of the answer"}
		}
		return body, err
	}
	if err := w.budget.spend(len(body)); err != nil {
		return body, err
	}
	if err := checkAnswer(r, answer, body, w.root); err != nil {
		return body, err
	}
	if _, err := answer.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
		return body, errors.New("the answer's Location is no URL")
	}
	return body, nil
}

// read reads one byte more than an answer may have, and waits for the turn to decode it. Some BMCs compress unasked.
func (w *wire) read(ctx context.Context, answer *http.Response, most int) ([]byte, error) {
	body := io.Reader(answer.Body)
	if strings.EqualFold(answer.Header.Get("Content-Encoding"), "gzip") {
		unpacked, err := gzip.NewReader(answer.Body)
		if errors.Is(err, io.EOF) {
			return nil, nil // of nothing, which needs no header
		}
		if err != nil {
			return nil, fmt.Errorf("it is said to be gzip: %w", err)
		}
		body = unpacked
		answer.Header.Del("Content-Encoding")
	}
	raw, done, err := answerBudget.Read(ctx, body, most, answer.Body.Close)
	if w.decoded = done; err != nil {
		return raw, err
	}
	end, err := exchange.Turn(ctx, len(raw))
	w.decoded = func() { end(); done() }
	return raw, err
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
