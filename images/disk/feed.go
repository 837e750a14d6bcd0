package disk

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// feed reads a body once, in chunks, and hashes them while they are consumed.
type feed struct {
	chunks chan *chunk
	hashed chan *chunk // nil when no sum is asked for
	pool   pool
	sum    hash.Hash
	read   atomic.Int64
	size   int64 // announced, -1 unknown
	err    error // why chunks was closed early; set before the close
}

// newFeed prepares to read size bytes (-1 when unknown) into the pool's chunks.
func newFeed(size int64, p pool, sum hash.Hash) *feed {
	f := &feed{chunks: make(chan *chunk, 2), pool: p, sum: sum, size: size}
	if sum != nil {
		f.hashed = make(chan *chunk, 2)
	}
	return f
}

// start runs the reader and the hasher in g until the body ends.
func (f *feed) start(ctx context.Context, g *errgroup.Group, body io.Reader) {
	g.Go(func() error {
		defer close(f.chunks)
		if f.hashed != nil {
			defer close(f.hashed)
		}
		f.err = f.pump(ctx, body)
		return f.err
	})
	if f.hashed == nil {
		return
	}
	g.Go(func() error {
		for c := range f.hashed {
			f.sum.Write(c.bytes())
			c.release()
		}
		return nil
	})
}

// pump moves the body into chunks until its end.
func (f *feed) pump(ctx context.Context, body io.Reader) error {
	for off := int64(0); ; {
		c, err := f.pool.get(ctx)
		if err != nil {
			return err
		}
		ended, err := fill(body, c, off) // an unexpected end of the connection is none of the image
		if err != nil {
			return err
		}
		off += int64(c.n)
		f.read.Store(off)
		if err := f.send(ctx, c); err != nil {
			return err
		}
		if ended {
			return f.checkEnd(off)
		}
	}
}

// send hands a chunk to the consumer and to the hasher.
func (f *feed) send(ctx context.Context, c *chunk) error {
	if f.hashed != nil {
		c.hold()
		select {
		case f.hashed <- c:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case f.chunks <- c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// checkEnd compares the received size with the announced one.
func (f *feed) checkEnd(got int64) error {
	switch {
	case f.size < 0 || got == f.size:
		return nil
	case got < f.size:
		return &CutShortError{Want: f.size, Got: got}
	}
	return fmt.Errorf("%w: it is longer than announced: expected %d bytes, got %d", ErrFormat, f.size, got)
}

// next returns the next chunk, which the caller releases, or io.EOF. Chunks
// may be empty. A body that failed gives its error, never a clean end.
func (f *feed) next(ctx context.Context) (*chunk, error) {
	select {
	case c, ok := <-f.chunks:
		switch {
		case ok:
			return c, nil
		case f.err != nil:
			return nil, f.err
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// each calls do with every chunk to the end of the body.
func (f *feed) each(ctx context.Context, do func(*chunk) error) error {
	for {
		c, err := f.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = do(c)
		c.release()
		if err != nil {
			return err
		}
	}
}
