package disk

import (
	"context"
	"errors"
	"io"
)

// segment is a part of a compressed image that decompresses alone and has a known place on the disk, so that several
// are under way at once. It is read as a stream of its own while it still arrives.
type segment struct {
	ctx  context.Context // io.Reader has no other way to be cancelled
	off  int64           // of its first byte on the disk
	in   chan piece
	cur  piece
	rest []byte // of cur
}

// piece is some bytes of a run. They lie in a chunk that is held until they are
// read, or nowhere else when from is nil.
type piece struct {
	data []byte
	from *chunk
}

// newRun prepares a run of which as many pieces may wait.
func newRun(ctx context.Context, off int64, pieces int) *segment {
	return &segment{ctx: ctx, off: off, in: make(chan piece, pieces)}
}

// send queues bytes at the run's end.
func (r *segment) send(data []byte, from *chunk) error {
	if len(data) == 0 {
		return nil
	}
	if from != nil {
		from.hold()
	}
	select {
	case r.in <- piece{data, from}:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// end says that the run is complete.
func (r *segment) end() { close(r.in) }

// Read waits for bytes until there are some, or no more.
func (r *segment) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.cur.from != nil {
			r.cur.from.release()
			r.cur = piece{}
		}
		select {
		case next, more := <-r.in:
			if !more {
				return 0, io.EOF
			}
			r.cur, r.rest = next, next.data
		case <-r.ctx.Done():
			return 0, context.Cause(r.ctx)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// tap reads a feed, and on demand passes the bytes on to a run.
type tap struct {
	ctx  context.Context
	feed *feed
	cur  *chunk
	at   int      // index in cur of the next byte
	from int      // index in cur of the first byte that is still to be handed on
	to   *segment // nil: the bytes are skipped
}

// start passes the bytes that are read from now on to r.
func (t *tap) start(r *segment) { t.to, t.from = r, t.at }

// stop passes the bytes that were read until now, and no more.
func (t *tap) stop() error {
	err := t.hand()
	t.to = nil
	return err
}

// hand passes the rest of the chunk to the run.
func (t *tap) hand() error {
	if t.to == nil || t.cur == nil {
		return nil
	}
	err := t.to.send(t.cur.bytes()[t.from:t.at], t.cur)
	t.from = t.at
	return err
}

// fill waits for a byte to read, or returns io.EOF.
func (t *tap) fill() error {
	for t.cur == nil || t.at == t.cur.n {
		if t.cur != nil {
			if err := t.hand(); err != nil {
				return err
			}
			t.cur.release()
			t.cur = nil
		}
		c, err := t.feed.next(t.ctx)
		if err != nil {
			return err
		}
		t.cur, t.at, t.from = c, 0, 0
	}
	return nil
}

// byte reads one byte, which must be there.
func (t *tap) byte() (byte, error) {
	if err := t.fill(); err != nil {
		return 0, cutOff(err)
	}
	b := t.cur.buf[t.at]
	t.at++
	return b, nil
}

// read fills p.
func (t *tap) read(p []byte) error {
	for i := range p {
		var err error
		if p[i], err = t.byte(); err != nil {
			return err
		}
	}
	return nil
}

// skip goes n bytes on.
func (t *tap) skip(n int) error {
	for n > 0 {
		if err := t.fill(); err != nil {
			return cutOff(err)
		}
		step := min(n, t.cur.n-t.at)
		t.at, n = t.at+step, n-step
	}
	return nil
}

// cutOff is the error for an image that ends too early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
