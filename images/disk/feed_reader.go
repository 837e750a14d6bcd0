package disk

import (
	"context"
	"errors"
)

// feedReader presents a feed as the byte stream a decompressor reads.
type feedReader struct {
	ctx  context.Context // io.Reader has no other way to be cancelled
	feed *feed
	cur  *chunk
	rest []byte
}

// Read copies from the current chunk, taking the next when it is used up.
func (r *feedReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.cur != nil {
			r.cur.release()
			r.cur = nil
		}
		c, err := r.feed.next(r.ctx)
		if err != nil {
			return 0, err
		}
		r.cur, r.rest = c, c.bytes()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// ReadByte lets a decompressor read without a buffer of its own.
func (r *feedReader) ReadByte() (byte, error) {
	var b [1]byte
	if len(r.rest) > 0 {
		b[0] = r.rest[0]
		r.rest = r.rest[1:]
		return b[0], nil
	}
	_, err := r.Read(b[:])
	return b[0], err
}

// UnreadByte gives the byte back that ReadByte read last.
func (r *feedReader) UnreadByte() error {
	if r.cur == nil || len(r.rest) == r.cur.n {
		return errors.New("no byte was read of this chunk")
	}
	r.rest = r.cur.bytes()[r.cur.n-len(r.rest)-1:]
	return nil
}
