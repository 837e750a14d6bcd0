package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// progressStep is received over a connection before its retries count from the start
// again.
const progressStep = 16 << 20

// httpBody reads an image from start to end over as many connections as it
// takes.
type httpBody struct {
	ctx     context.Context // io.Reader has no other way to be cancelled
	src     *HTTPSource
	answer  *answer // nil between connections
	pending []byte  // read already, to be given first
	off     int64   // bytes given
	skip    int64   // bytes of the answer that were given before
	tries   int
	good    int64 // off when tries was last reset
	stop    func() bool
}

// Read gives the next bytes, reconnecting where needed.
func (b *httpBody) Read(p []byte) (int, error) {
	if len(b.pending) > 0 {
		n := copy(p, b.pending)
		b.pending = b.pending[n:]
		b.off += int64(n)
		return n, nil
	}
	for {
		if b.src.size >= 0 && b.off >= b.src.size {
			return 0, io.EOF
		}
		if b.answer == nil {
			if err := b.connect(); err != nil {
				if b.src.dropRanges(err) {
					continue
				}
				if err := b.failed(err); err != nil {
					return 0, err
				}
				continue
			}
		}
		n, err := b.receive(p)
		if n > 0 {
			return n, nil // an error, if any, comes again with the next read
		}
		if errors.Is(err, io.EOF) && b.src.size < 0 {
			return 0, io.EOF
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = &CutShortError{Want: b.src.size, Got: b.off}
		}
		b.answer.close()
		b.answer = nil
		if err := b.failed(brokenError{err}); err != nil {
			return 0, err
		}
	}
}

// receive reads from the connection.
func (b *httpBody) receive(p []byte) (int, error) {
	b.answer.resume()
	defer b.answer.pause()
	for b.skip > 0 {
		n, err := b.answer.Read(p[:min(int64(len(p)), b.skip)])
		b.skip -= int64(n)
		if err != nil {
			return 0, err
		}
	}
	n, err := b.answer.Read(p)
	b.off += int64(n)
	if b.off-b.good >= progressStep {
		b.good, b.tries = b.off, 0
	}
	return n, err
}

// connect asks for the bytes from off on. A server without Range sends all,
// of which the first off bytes are skipped.
func (b *httpBody) connect() error {
	a, err := b.src.get(b.ctx, b.off, -1)
	if err != nil {
		return err
	}
	err = b.src.same(a)
	if err == nil && a.from > b.off { // some caches begin at the start of a block of theirs
		err = rangeError{fmt.Errorf("%w: asked for bytes from %d, was sent bytes from %d", ErrSource, b.off, a.from)}
	}
	if err != nil {
		a.close()
		return err
	}
	b.answer, b.skip = a, b.off-a.from
	return nil
}

// failed counts a failure; it returns an error when it is final, else waits
// and returns nil.
func (b *httpBody) failed(err error) error {
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	var again brokenError
	if !errors.As(err, &again) {
		return err
	}
	if b.tries >= b.src.opts.Retries {
		return b.giveUp(again.error)
	}
	b.tries++
	b.src.opts.Retrying(b.tries, b.src.opts.Retries+1, again.error)
	return b.src.wait(b.ctx, b.tries-1, longestPause)
}

// giveUp is the last failure, with the expected and the received size.
func (b *httpBody) giveUp(err error) error {
	var short *CutShortError
	if errors.As(err, &short) || b.src.size < 0 {
		return fmt.Errorf("%w: given up after %d tries: %w", ErrSource, b.tries+1, err)
	}
	return fmt.Errorf("given up after %d tries: %w: %w", b.tries+1, &CutShortError{Want: b.src.size, Got: b.off}, err)
}

// Close ends the connection.
func (b *httpBody) Close() error {
	if b.stop != nil {
		b.stop()
	}
	if b.answer != nil {
		b.answer.close()
		b.answer = nil
	}
	return nil
}
