package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// brokenError marks a failure that another try may mend.
type brokenError struct{ error }

// Unwrap gives the failure.
func (e brokenError) Unwrap() error { return e.error }

// rangeError is about an answer to a Range request that cannot be used. The image is then asked for as a whole.
type rangeError struct{ error }

// Unwrap gives the failure.
func (e rangeError) Unwrap() error { return e.error }

// dropRanges ends Range requests, if err is about one.
func (s *HTTPSource) dropRanges(err error) bool {
	if s.noRange || !errors.As(err, new(rangeError)) {
		return false
	}
	s.noRange, s.ranges = true, false
	return true
}

// errStalled is the cause of a request given up for want of bytes.
var errStalled = errors.New("too few bytes within the time allowed")

// answer is a response being read, watched for stalls.
type answer struct {
	body     io.ReadCloser
	from     int64  // offset of the first byte in the image
	size     int64  // of the whole image, -1 unknown
	partial  bool   // it is an answer to a Range request
	coding   string // Content-Encoding, "" for none
	validate validator
	ctx      context.Context // carries the cause of a stall
	cancel   context.CancelFunc
	watch    *time.Timer
	stall    time.Duration
	least    int           // bytes that must come in each stall
	came     int           // of them
	left     time.Duration // of the stall, while its clock stands still
	since    time.Time     // when it went on
}

// get asks for the bytes from first to last, or to the end when last is -1.
func (s *HTTPSource) get(ctx context.Context, first, last int64) (*answer, error) {
	ctx, cause := context.WithCancelCause(ctx)
	a := &answer{ctx: ctx, cancel: func() { cause(context.Canceled) }, stall: s.opts.Stall,
		least: s.opts.Least, left: s.opts.Stall, since: time.Now()}
	a.watch = time.AfterFunc(a.stall, func() { cause(errStalled) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		a.cancel()
		return nil, err
	}
	for k, v := range s.opts.Header {
		req.Header[k] = v
	}
	// Bytes are counted and hashed as they are stored, so no encoding on the way is asked for.
	req.Header.Set("Accept-Encoding", "identity")
	switch {
	case s.noRange:
	case last >= 0:
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
	case first > 0 || s.ranges && !s.unasked: // some servers compress whole answers, and never parts
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", first))
	}
	resp, err := s.client.Do(req) //nolint:bodyclose // the answer keeps the body and closes it
	if err != nil {
		a.cancel()
		return nil, brokenError{fmt.Errorf("%w: %w", ErrSource, a.explain(err))}
	}
	a.body = resp.Body
	a.restart()
	if err := a.accept(resp); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// accept reads an answer's status and headers.
func (a *answer) accept(resp *http.Response) error {
	a.validate = validator{resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")}
	if e := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); e != "identity" {
		a.coding = e
	}
	switch {
	case resp.StatusCode == http.StatusOK,
		resp.StatusCode == http.StatusPartialContent && resp.Request.Header.Get("Range") == "": // some always say so
		a.size = resp.ContentLength
		return nil
	case resp.StatusCode == http.StatusPartialContent:
		a.partial = true
		var err error
		a.from, a.size, err = contentRange(resp.Header.Get("Content-Range"))
		return err
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return fmt.Errorf("%w: server answered %s: the image is empty or shorter than it said", ErrSource, resp.Status)
	}
	err := &HTTPStatusError{Status: resp.StatusCode, Text: resp.Status + reason(resp)}
	if err.temporary() {
		return brokenError{err}
	}
	return err
}

// maxReason bounds the text that is read of a refusal.
const maxReason = 600

// reason is the text that a server gives beside its status, as a conductor does, in one line; "" for none.
func reason(resp *http.Response) string {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReason))
	line := strings.Join(strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsPrint(r) }), " ")
	if err != nil || line == "" || strings.HasPrefix(line, strconv.Itoa(resp.StatusCode)) {
		return ""
	}
	return ": " + line
}

// Read reads the body. The stall's clock starts anew when enough has come: single bytes would keep an image, and its
// room, on the way for years.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if a.came += n; a.came >= a.least {
		a.restart()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = a.explain(err)
	}
	return n, err
}

// pause stops the stall's clock while nothing reads: it must watch the server, not a
// slow disk.
func (a *answer) pause() {
	a.watch.Stop()
	a.left -= time.Since(a.since)
}

// resume restarts the stall's clock with its remaining time.
func (a *answer) resume() {
	a.since = time.Now()
	a.watch.Reset(max(a.left, 0))
}

// restart gives the stall's clock its whole time.
func (a *answer) restart() {
	a.came, a.left = 0, a.stall
	a.resume()
}

// explain puts the stall in place of the cancellation it caused.
func (a *answer) explain(err error) error {
	if errors.Is(context.Cause(a.ctx), errStalled) {
		return fmt.Errorf("%w (%s)", errStalled, a.stall)
	}
	return err
}

// close ends the request.
func (a *answer) close() {
	a.watch.Stop()
	a.cancel()
	if a.body != nil {
		_ = a.body.Close() // only read from: nothing to lose
	}
}

// retry runs do until it succeeds, fails for good, or has failed too often.
func (s *HTTPSource) retry(ctx context.Context, do func() error) error {
	for try, refused := 0, 0; ; try++ {
		err := do()
		if s.dropRanges(err) {
			try--
			continue
		}
		var again brokenError
		if err == nil || !errors.As(err, &again) || ctx.Err() != nil {
			return err
		}
		var lasting interface{ Permanent() bool } // such as an address that must not be dialled
		if errors.As(err, &lasting) && lasting.Permanent() {
			return again.error
		}
		tries, longest := s.opts.Retries+1, longestPause
		if most := triesIfAbsent(err); s.unknown() && most > 0 {
			refused++
			tries, longest = min(tries, try+1+max(most-refused, 0)), refusedPause
		} else {
			refused = 0
		}
		if try+1 >= tries {
			return fmt.Errorf("given up after %d tries: %w", try+1, again.error)
		}
		s.opts.Retrying(try+1, tries, again.error)
		if err := s.wait(ctx, try, longest); err != nil {
			return err
		}
	}
}

// An address at which nothing listens, and a name without an address, are more often mistakes in a URL than servers
// that are starting. They end after a few tries in a row, unless the server has answered before.
const (
	longestPause = 10 * time.Second
	unnamedTries = 3
	refusedTries = 8 // a server that is started anew refuses connections for half a minute
	refusedPause = 4 * time.Second
)

// unknown reports that nothing has come from the server yet.
func (s *HTTPSource) unknown() bool { return s.head == nil && s.size < 0 }

// triesIfAbsent is the number of tries after a refused connection, or for a name that its server does not know; 0 for
// other failures. A machine without a name server asks its own loopback, which refuses: Go's resolver keeps only the
// text of that.
func triesIfAbsent(err error) int {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		if dns.IsNotFound || strings.HasSuffix(dns.Err, syscall.ECONNREFUSED.Error()) {
			return unnamedTries
		}
	case errors.Is(err, syscall.ECONNREFUSED):
		return refusedTries
	}
	return 0
}

// wait pauses before retry number try.
func (s *HTTPSource) wait(ctx context.Context, try int, longest time.Duration) error {
	d := min(s.opts.Backoff<<min(try, 10), longest)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
