package disk

import (
	"context"
	"sync/atomic"
	"unsafe"
)

const (
	chunkSize = 1 << 20 // read, hashed and written at a time
	alignment = 4096    // of buffers' memory, for O_DIRECT on any sector size
)

// AlignedBuffer returns n bytes at an address that is a multiple of 4096, as O_DIRECT wants it on any sector size.
func AlignedBuffer(n int) []byte {
	b := make([]byte, n+alignment)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (alignment - 1)
	return b[skip : skip+n : skip+n]
}

// chunk is a reusable aligned buffer holding n bytes from offset off of a
// stream. It goes back to its pool when every holder has released it.
type chunk struct {
	buf  []byte
	n    int
	off  int64
	refs atomic.Int32
	home chan *chunk
}

// bytes are the bytes of the stream in the chunk.
func (c *chunk) bytes() []byte { return c.buf[:c.n] }

// hold adds a holder.
func (c *chunk) hold() { c.refs.Add(1) }

// release drops a holder. home has room for every chunk, so it never blocks.
func (c *chunk) release() {
	if c.refs.Add(-1) == 0 {
		c.home <- c
	}
}

// pool is a fixed set of chunks, which limits the memory of a write.
type pool chan *chunk

// newPool makes n chunks. Their memory is taken when they are first used:
// a small image needs few.
func newPool(n int) pool {
	p := make(pool, n)
	for range n {
		p <- &chunk{home: p}
	}
	return p
}

// get waits for a free chunk and returns it held once.
func (p pool) get(ctx context.Context) (*chunk, error) {
	select {
	case c := <-p:
		if c.buf == nil {
			c.buf = AlignedBuffer(chunkSize)
		}
		c.refs.Store(1)
		c.n = 0
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
