package disk

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// HTTPOptions are the options of a download. The zero value is usable.
type HTTPOptions struct {
	Header  http.Header   // sent with every request, such as Authorization
	Stall   time.Duration // a connection without Least bytes for this long is broken; 30 s when zero
	Least   int           // bytes that must come in each Stall, but for the last; 64 KiB when zero
	Retries int           // of a broken connection, in a row without progress; 5 when zero
	Backoff time.Duration // before the first retry, doubled each time up to 10 s; 500 ms when zero
	// Retrying is called for each failure before a further try. May be nil.
	Retrying func(try, tries int, err error)
	// Whole: the first request is for the whole image and not for its start, so that a reader from start to end sends
	// one request alone. ReadRange then answers ErrNoRange.
	Whole bool
	// OfDisk: a mirror is refused if it begins with another file than the image of a disk, such as a page with a login.
	OfDisk bool
}

// withDefaults replaces zero values.
func (o HTTPOptions) withDefaults() HTTPOptions {
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	if o.Least <= 0 {
		o.Least = 64 << 10
	}
	if o.Retries <= 0 {
		o.Retries = 5
	}
	if o.Backoff <= 0 {
		o.Backoff = 500 * time.Millisecond
	}
	if o.Retrying == nil {
		o.Retrying = func(int, int, error) {}
	}
	return o
}

// HTTPStatusError is an answer that is no image.
type HTTPStatusError struct {
	Status int
	Text   string
}

// Error gives the status line.
func (e *HTTPStatusError) Error() string { return "server answered " + e.Text }

// Unwrap makes errors.Is(err, ErrSource) true.
func (e *HTTPStatusError) Unwrap() error { return ErrSource }

// temporary recognises statuses that another try may change.
func (e *HTTPStatusError) temporary() bool {
	return e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout
}

// HTTPSource is an image on a web server. It survives broken and stalled
// connections, going on where it was (RFC 9110 section 14).
type HTTPSource struct {
	client   *http.Client
	url      string
	name     string
	opts     HTTPOptions
	size     int64
	ranges   bool
	head     []byte
	validate validator
	coding   string    // Content-Encoding, which was not asked for
	noRange  bool      // its answers to Range requests cannot be used
	unasked  bool      // nothing was requested of the server yet
	first    *httpBody // the answer to the first request, when it was the whole image
}

// validator reports whether two answers are of the same image.
type validator struct{ etag, modified string }

// OpenHTTPSource asks the server for the start of the image at rawURL. The answer has
// its size and shows whether the server supports Range requests. The client must not
// have a Timeout, which would limit the whole download; opts limit stalls. ctx must
// last as long as the source: a server without Range has begun to send the image.
// Errors never show a URL's password.
func OpenHTTPSource(ctx context.Context, client *http.Client, rawURL string, opts HTTPOptions) (*HTTPSource, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("image URL %q: expected http://host/path or https://host/path", clip(rawURL))
	}
	s := &HTTPSource{client: ownOrigin(client), url: rawURL, name: u.Redacted(), opts: opts.withDefaults(), size: -1}
	if err := s.probe(ctx); err != nil {
		return nil, fmt.Errorf("image %s: %w", s.name, err)
	}
	return s, nil
}

// KnownHTTPSource is an image of a size that is known: nothing is asked of the server before it is read. An answer of
// another size is an error.
func KnownHTTPSource(client *http.Client, rawURL string, size int64, opts HTTPOptions) *HTTPSource {
	name := clip(rawURL)
	if u, err := url.Parse(rawURL); err == nil {
		name = u.Redacted()
	}
	return &HTTPSource{client: ownOrigin(client), url: rawURL, name: name, opts: opts.withDefaults(), size: size,
		ranges: true, unasked: true}
}

// probe makes the first request: for the first 4 KiB, or for all where the
// server knows no Range.
func (s *HTTPSource) probe(ctx context.Context) error {
	return s.retry(ctx, func() error {
		last := int64(headSize - 1)
		if s.opts.Whole {
			last = -1
		}
		a, err := s.get(ctx, 0, last)
		if err != nil {
			return err
		}
		if a.from != 0 {
			a.close()
			return rangeError{fmt.Errorf("%w: asked for bytes from 0, was sent bytes from %d", ErrSource, a.from)}
		}
		s.size, s.ranges, s.validate, s.coding = a.size, a.partial, a.validate, a.coding
		if s.size == 0 {
			a.close()
			return fmt.Errorf("%w: it is empty", ErrFormat)
		}
		want := min(s.size, int64(headSize))
		s.head, err = io.ReadAll(io.LimitReader(a, headSize))
		if err == nil && int64(len(s.head)) < want {
			err = &CutShortError{Want: want, Got: int64(len(s.head))}
		}
		if err != nil {
			a.close()
			return brokenError{fmt.Errorf("%w: %w", ErrSource, err)}
		}
		if a.partial {
			a.close()
			return nil
		}
		a.pause()
		s.first = &httpBody{ctx: ctx, src: s, answer: a, pending: s.head}
		return nil
	})
}

// Name is the URL without its password.
func (s *HTTPSource) Name() string { return s.name }

// Size is the announced size.
func (s *HTTPSource) Size() int64 { return s.size }

// Version identifies the image among others that were at its URL, in the server's words; "" where the server has none.
func (s *HTTPSource) Version() string {
	if s.validate == (validator{}) {
		return ""
	}
	return s.validate.etag + " " + s.validate.modified
}

// Coding is the Content-Encoding that the server names although none was asked for; "" for none. Size, Head and Body
// are of the bytes as they come.
func (s *HTTPSource) Coding() string { return s.coding }

// Head is the image's start.
func (s *HTTPSource) Head() []byte { return s.head }

// Close drops a connection that Body was not called for.
func (s *HTTPSource) Close() error {
	if s.first != nil {
		return s.first.Close()
	}
	return nil
}

// Body starts the download. Reading it ends with ctx.
func (s *HTTPSource) Body(ctx context.Context) (io.ReadCloser, error) {
	if b := s.first; b != nil {
		s.first = nil
		b.ctx = ctx
		b.stop = context.AfterFunc(ctx, b.answer.cancel)
		return b, nil
	}
	return s.bodyFrom(ctx, 0), nil
}

// BodyFrom starts the download at off. Reading it ends with ctx.
func (s *HTTPSource) BodyFrom(ctx context.Context, off int64) io.ReadCloser {
	return s.bodyFrom(ctx, off)
}

// bodyFrom continues with a download that has come to off.
func (s *HTTPSource) bodyFrom(ctx context.Context, off int64) io.ReadCloser {
	return &httpBody{ctx: ctx, src: s, off: off, good: off}
}

// ReadRange reads part of the image.
func (s *HTTPSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	return s.retry(ctx, func() error {
		if !s.ranges {
			return ErrNoRange
		}
		a, err := s.get(ctx, off, off+int64(len(p))-1)
		if err != nil {
			return err
		}
		defer a.close()
		if s.unasked && !a.partial {
			return ErrNoRange
		}
		if !a.partial || a.from > off {
			return fmt.Errorf("%w: it answered a Range request before, now it does not", ErrSource)
		}
		if err := s.same(a); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, a, off-a.from); err != nil {
			return brokenError{fmt.Errorf("%w: before byte %d: %w", ErrSource, off, err)}
		}
		if n, err := io.ReadFull(a, p); err != nil {
			return brokenError{fmt.Errorf("%w: %d of %d bytes from %d: %w", ErrSource, n, len(p), off, err)}
		}
		return nil
	})
}

// same refuses an answer of another image than the first one.
func (s *HTTPSource) same(a *answer) error {
	if s.unasked && (a.size < 0 && a.coding == "" || a.size == s.size) {
		s.unasked, s.validate, s.coding = false, a.validate, a.coding
	}
	if a.coding != s.coding {
		return fmt.Errorf("%w: the server sends it with Content-Encoding %q, expected %q as before", ErrSource,
			clip(a.coding), clip(s.coding))
	}
	if s.unasked {
		return fmt.Errorf("%w: it has %d bytes on the server, expected %d", ErrSource, a.size, s.size)
	}
	if a.validate != s.validate || a.size >= 0 && s.size >= 0 && a.size != s.size {
		return fmt.Errorf("%w: the image was changed on the server during the transfer", ErrSource)
	}
	return nil
}

// contentRange parses "bytes 0-4095/10000"; the size is -1 for "*".
func contentRange(v string) (from, size int64, err error) {
	wrong := rangeError{fmt.Errorf("%w: Content-Range is %q, expected bytes FIRST-LAST/SIZE", ErrSource, clip(v))}
	span, total, ok := strings.Cut(strings.TrimPrefix(v, "bytes "), "/")
	first, last, dash := strings.Cut(span, "-")
	from, err = strconv.ParseInt(first, 10, 64)
	to, toErr := strconv.ParseInt(last, 10, 64)
	if !ok || !dash || err != nil || toErr != nil || from < 0 || to < from {
		return 0, 0, wrong
	}
	if total == "*" {
		return from, -1, nil
	}
	if size, err = strconv.ParseInt(total, 10, 64); err != nil || to >= size {
		return 0, 0, wrong
	}
	return from, size, nil
}
