package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Mirrors is one image on several web servers. It is read from one at a time: when that one
// fails for good, the next goes on at the same byte. A mirror is the same image if it has
// the size and the start of the first that answered. Servers describe their copies
// differently (ETag), so the checksum of all bytes decides.
type Mirrors struct {
	client   *http.Client
	opts     HTTPOptions
	trusted  string // host that the header is for
	onward   func(error)
	left     []string // not asked yet
	failures []error  // of those before
	src      *HTTPSource
	size     int64
	head     []byte
}

// OpenMirrors opens the first of the URLs that answers; see OpenHTTPSource for client and
// ctx. The header of opts may hold credentials, so it goes only to the host of the first
// URL. onward gets the reason why a mirror was left for the next: no error has it when that
// one works.
func OpenMirrors(
	ctx context.Context, client *http.Client, urls []string, opts HTTPOptions, onward func(error),
) (*Mirrors, error) {
	if len(urls) == 0 {
		return nil, fmt.Errorf("%w: it has no URL", ErrSource)
	}
	m := &Mirrors{client: client, opts: opts, onward: onward, left: urls, trusted: host(urls[0])}
	if err := m.next(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// host is scheme, name and port of a URL, "" if it is none.
func host(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// leave gives the mirror up that is read from, and goes to the next. A transfer
// that was cancelled is over, and so is one with a single URL.
func (m *Mirrors) leave(ctx context.Context, why error) error {
	if ctx.Err() != nil || len(m.left)+len(m.failures) == 0 {
		return why
	}
	_ = m.src.Close() // only read from: nothing to lose
	m.refuse(fmt.Errorf("%s: %w", m.src.Name(), why))
	return m.next(ctx)
}

// refuse notes why a mirror is of no use.
func (m *Mirrors) refuse(why error) {
	m.failures = append(m.failures, why)
	if len(m.left) > 0 {
		m.onward(why)
	}
}

// next opens the first of the remaining mirrors that has the image. If none has, the
// error names the failure of each.
func (m *Mirrors) next(ctx context.Context) error {
	for len(m.left) > 0 {
		u := m.left[0]
		m.left = m.left[1:]
		opts := m.opts
		if host(u) != m.trusted {
			opts.Header = nil
		}
		src, err := OpenHTTPSource(ctx, m.client, u, opts)
		if err == nil {
			err = m.take(src)
		}
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		m.refuse(err)
	}
	return errors.Join(m.failures...)
}

// take reads from src on, if it is the same image.
func (m *Mirrors) take(src *HTTPSource) error {
	var err error
	if m.opts.OfDisk {
		_, err = Detect(src.Head())
	}
	switch {
	case err != nil:
		err = fmt.Errorf("image %s: %w", src.Name(), err)
	case m.src == nil:
		m.size, m.head = src.Size(), src.Head()
	case src.Size() != m.size:
		err = fmt.Errorf("mirror %s: %w: it has %d bytes, expected %d as %s said (-1: unknown); it is not the same image",
			src.Name(), ErrSource, src.Size(), m.size, m.src.Name())
	case !bytes.Equal(src.Head(), m.head):
		err = fmt.Errorf("mirror %s: %w: it begins with other bytes than %s; it is not the same image", src.Name(),
			ErrSource, m.src.Name())
	}
	if err != nil {
		return errors.Join(err, src.Close())
	}
	m.src = src
	return nil
}

// Name is the URL read from, without its password.
func (m *Mirrors) Name() string { return m.src.Name() }

// Size is the size that the first mirror announced.
func (m *Mirrors) Size() int64 { return m.size }

// Version is the present mirror's; see HTTPSource.Version.
func (m *Mirrors) Version() string { return m.src.Version() }

// Coding is the present mirror's; see HTTPSource.Coding.
func (m *Mirrors) Coding() string { return m.src.Coding() }

// Head is the image's start.
func (m *Mirrors) Head() []byte { return m.head }

// Close drops a connection that Body was not called for.
func (m *Mirrors) Close() error { return m.src.Close() }

// ReadRange reads part of the image, from the next mirror too if one has no Range.
func (m *Mirrors) ReadRange(ctx context.Context, p []byte, off int64) error {
	for {
		err := m.src.ReadRange(ctx, p, off)
		if err == nil {
			return nil
		}
		if err := m.leave(ctx, err); err != nil {
			return err
		}
	}
}

// Body starts the download. Reading it ends with ctx.
func (m *Mirrors) Body(ctx context.Context) (io.ReadCloser, error) {
	body, err := m.src.Body(ctx)
	return &mirrorBody{ctx: ctx, mirrors: m, body: body}, err
}

// BodyFrom continues with a download that has come to off, as Body does from the start.
func (m *Mirrors) BodyFrom(ctx context.Context, off int64) io.ReadCloser {
	return &mirrorBody{ctx: ctx, mirrors: m, body: m.src.bodyFrom(ctx, off), off: off}
}

// mirrorBody reads an image from start to end, over as many mirrors as it takes.
type mirrorBody struct {
	ctx     context.Context // io.Reader has no other way to be cancelled
	mirrors *Mirrors
	body    io.ReadCloser
	off     int64 // bytes given
}

// Read gives the next bytes, from the next mirror where one failed.
func (b *mirrorBody) Read(p []byte) (int, error) {
	for {
		n, err := b.body.Read(p)
		b.off += int64(n)
		if n > 0 || err == nil || errors.Is(err, io.EOF) {
			return n, err
		}
		_ = b.body.Close()
		if err := b.mirrors.leave(b.ctx, err); err != nil {
			return 0, err
		}
		b.body = b.mirrors.src.bodyFrom(b.ctx, b.off)
	}
}

// Close ends the connection.
func (b *mirrorBody) Close() error { return b.body.Close() }
