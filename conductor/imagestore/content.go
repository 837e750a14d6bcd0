package imagestore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// Content is an image that is open: complete, or on its way. It is an io.ReadSeekCloser for one reader.
type Content struct {
	ctx   context.Context //nolint:containedctx // io.Reader has no other way to be cancelled
	file  *os.File        // at the same place as off
	fetch *fetch          // nil: it is complete
	size  int64
	key   string
	off   int64
	close func()
}

// Open opens an image that is here, or is being fetched; fs.ErrNotExist for any other. Reading ends with ctx.
func (s *Store) Open(ctx context.Context, key string) (*Content, error) {
	final := s.final(key)
	if final == "" {
		return nil, fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Content{ctx: ctx, key: key, size: -1}
	path := final
	if f := s.fetches[key]; f != nil {
		c.fetch, path = f, s.partial(key)
		f.mu.Lock()
		c.size = f.size
		f.mu.Unlock()
		if c.size < 0 { // nothing can be said of it yet, and its partial file may begin anew
			return nil, fs.ErrNotExist
		}
	}
	file, err := os.Open(path)
	if missing(err) && c.fetch != nil {
		file, err = os.Open(final) // it was completed in this moment
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if c.fetch == nil {
		c.size = info.Size()
	}
	c.file = file
	s.used(key)
	s.readers[key]++
	c.close = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.readers[key]--; s.readers[key] == 0 {
			delete(s.readers, key)
		}
	})
	return c, nil
}

// OpenStored is Open for an operator's image of which all is here: no conductor waits for another that waits for it.
func (s *Store) OpenStored(ctx context.Context, key string) (*Content, error) {
	if !storedKey.MatchString(key) || !s.Has(key) {
		return nil, fs.ErrNotExist
	}
	return s.Open(ctx, key)
}

// Unheld lets the image be deleted while it is read; the reading goes on to its end. A user's download so does not
// block the deletion.
func (c *Content) Unheld() { c.close() }

// Size is the size of the whole image.
func (c *Content) Size() int64 { return c.size }

// Key is the key of the image in its Store.
func (c *Content) Key() string { return c.key }

// Close ends reading.
func (c *Content) Close() error {
	c.close()
	return c.file.Close()
}

// wait returns how many bytes, n at most, can be read where the reader is. It waits for the first.
func (c *Content) wait(n int64) (int64, error) {
	n = min(n, c.size-c.off)
	if c.fetch == nil || n <= 0 {
		return n, nil
	}
	var there int64
	err := c.fetch.until(c.ctx, func() bool {
		there = c.fetch.servable() - c.off
		return there > 0
	})
	return min(n, there), err
}

// Read reads bytes that have come, and waits if there are none.
func (c *Content) Read(p []byte) (int, error) {
	if c.off >= c.size {
		return 0, io.EOF
	}
	n, err := c.wait(int64(len(p)))
	if err != nil || n == 0 {
		return 0, err
	}
	k, err := c.file.Read(p[:n])
	c.off += int64(k)
	return k, short(err)
}

// Seek is of io.Seeker. It waits for nothing.
func (c *Content) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		offset, whence = c.size+offset, io.SeekStart
	}
	off, err := c.file.Seek(offset, whence)
	if err == nil {
		c.off = off
	}
	return off, err
}

// sendTo writes n bytes from where the reader is. The file itself goes to w, so that the kernel can send it.
func (c *Content) sendTo(w io.Writer, n int64) (sent int64, err error) {
	for sent < n {
		there, err := c.wait(n - sent)
		if err != nil || there == 0 {
			return sent, err
		}
		k, err := io.Copy(w, &io.LimitedReader{R: c.file, N: there})
		sent += k
		c.off += k
		if err == nil && k < there {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// short turns an end of the file before the end of the image into an error.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Serve answers GET and HEAD, with Range.
func (c *Content) Serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("ETag", `"`+c.key+`"`)
	http.ServeContent(&sender{w, c}, r, "", time.Time{}, c)
}

// sender hands the files of a Content to the ResponseWriter below as files.
type sender struct {
	http.ResponseWriter
	content *Content
}

// Unwrap is for http.ResponseController.
func (s *sender) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// ReadFrom is called by http.ServeContent to copy a range.
func (s *sender) ReadFrom(src io.Reader) (int64, error) {
	limited, ok := src.(*io.LimitedReader)
	if !ok || limited.R != io.Reader(s.content) {
		return io.Copy(struct{ io.Writer }{s.ResponseWriter}, src)
	}
	n, err := s.content.sendTo(s.ResponseWriter, min(limited.N, s.content.size-s.content.off))
	limited.N -= n
	return n, err
}

// Redacted is a URL without its user, which may be a token, and its query, which may be a signature.
func Redacted(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "a URL that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
