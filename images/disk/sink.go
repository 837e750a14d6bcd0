package disk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const (
	heldBack  = 64 << 10  // bytes of the disk's start that are written last
	zeroStep  = 256 << 20 // zeroed between two looks at the context
	zeroSmall = 256 << 10 // shorter runs are written as zeroes: an ioctl each would cost more
)

// ErrTooSmall is wrapped when an image does not fit its target.
var ErrTooSmall = errors.New("disk is smaller than the image")

// tooSmall is the error for a disk of size bytes and a larger image. need is the size
// known so far: all of it if the header has it.
func tooSmall[N int64 | uint64](size int64, need N) error {
	return fmt.Errorf("%w: disk has %d bytes, image needs at least %d", ErrTooSmall, size, need)
}

// job is a piece of work that ends in bytes on the target.
type job interface {
	run(ctx context.Context, w *worker) error
}

// worker is one of the goroutines that run jobs. It keeps buffers between jobs to save
// allocations.
type worker struct {
	sink     *sink
	inflater *inflater
}

// sink queues jobs for a few workers, so that writing waits for neither the
// network nor decompression.
type sink struct {
	dst     Target
	size    int64
	sector  int
	jobs    chan job
	zeros   []byte
	iso     bool                     // an ISO image may be written, too
	start   []byte                   // the target's first heldBack bytes, written by finish
	known   atomic.Int64             // how many bytes of start are known
	look    func(start []byte) error // called once all of start is known; may be nil
	high    atomic.Int64
	written atomic.Int64
	zeroed  atomic.Int64
}

// newSink prepares a sink on dst.
func newSink(dst Target, queue int) *sink {
	size := dst.Size()
	return &sink{
		dst: dst, size: size, sector: dst.LogicalSectorSize(),
		jobs:  make(chan job, queue),
		zeros: AlignedBuffer(zeroSmall),
		start: AlignedBuffer(int(min(heldBack, size))),
	}
}

// startWorkers runs n workers in g until the queue is closed.
func (s *sink) startWorkers(ctx context.Context, g *errgroup.Group, n int) {
	for range n {
		g.Go(func() error {
			w := &worker{sink: s, inflater: newInflater()}
			defer w.inflater.close()
			for j := range s.jobs {
				if err := j.run(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// queue hands a job to the workers.
func (s *sink) queue(ctx context.Context, j job) error {
	select {
	case s.jobs <- j:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begins refuses the first chunk of a raw image if it shows a file of another kind.
func (s *sink) begins(c *chunk) error {
	if c.off > 0 || c.n == 0 {
		return nil
	}
	switch found := Identify(c.bytes()); {
	case found.Format == Raw, found.Format == ISO && s.iso:
		return nil
	case found.Remedy == "":
		return fmt.Errorf("%w: it is %s, expected a raw image; unpack it, a qcow2 can be compressed inside (qemu-img "+
			"convert -c)", ErrFormat, found.Name)
	default:
		return found.refused()
	}
}

// fits refuses bytes beyond the target's end.
func (s *sink) fits(off, n int64) error {
	if off+n > s.size {
		return tooSmall(s.size, off+n)
	}
	return nil
}

// clear zeroes the target's first bytes before anything else is written: from now until finish the disk does not boot,
// with any old contents.
func (s *sink) clear() error {
	if err := s.dst.Zero(0, int64(len(s.start))); err != nil {
		return fmt.Errorf("clear the first %d bytes: %w", len(s.start), err)
	}
	return nil
}

// put writes data at off now. The part within the first heldBack bytes is
// kept for finish; a last part of a sector is filled up with zeroes.
func (s *sink) put(data []byte, off int64) error {
	if err := s.fits(off, int64(len(data))); err != nil {
		return err
	}
	s.raise(off + int64(len(data)))
	s.written.Add(int64(len(data)))
	if off < int64(len(s.start)) {
		n := copy(s.start[off:], data)
		data, off = data[n:], off+int64(n)
		if err := s.learn(n); err != nil {
			return err
		}
	}
	whole := len(data) - len(data)%s.sector
	if whole > 0 {
		if _, err := s.dst.WriteAt(data[:whole], off); err != nil {
			return fmt.Errorf("write %d bytes at %d: %w", whole, off, err)
		}
	}
	if rest := data[whole:]; len(rest) > 0 {
		last := AlignedBuffer(s.sector)
		copy(last, rest)
		if _, err := s.dst.WriteAt(last, off+int64(whole)); err != nil {
			return fmt.Errorf("write the last sector at %d: %w", off+int64(whole), err)
		}
	}
	return nil
}

// learn counts n more bytes of the start. Each is put or zeroed once, by any worker. The worker that brings the last
// byte calls look on all of them.
func (s *sink) learn(n int) error {
	if s.look == nil || s.known.Add(int64(n)) != int64(len(s.start)) {
		return nil
	}
	return s.look(s.start)
}

// raise keeps the end of the image's data so far.
func (s *sink) raise(end int64) {
	for {
		high := s.high.Load()
		if end <= high || s.high.CompareAndSwap(high, end) {
			return
		}
	}
}

// finish writes the first bytes, once all else is known to be right and on
// the medium.
func (s *sink) finish() error {
	if err := s.dst.Flush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	n := min(s.high.Load(), int64(len(s.start)))
	n = (n + int64(s.sector) - 1) / int64(s.sector) * int64(s.sector)
	if _, err := s.dst.WriteAt(s.start[:min(n, int64(len(s.start)))], 0); err != nil {
		return fmt.Errorf("write the first %d bytes: %w", n, err)
	}
	if err := s.dst.Flush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// writeJob writes data, a part of chunk from.
type writeJob struct {
	data []byte
	off  int64
	from *chunk
}

// run writes and releases the chunk.
func (j writeJob) run(_ context.Context, w *worker) error {
	defer j.from.release()
	return w.sink.put(j.data, j.off)
}

// write queues data, a part of chunk from, which is held until it is written.
func (s *sink) write(ctx context.Context, from *chunk, data []byte, off int64) error {
	from.hold()
	return s.queue(ctx, writeJob{data: data, off: off, from: from})
}

// zeroJob makes a run read as zeroes.
type zeroJob struct{ off, n int64 }

// run zeroes in steps. The held-back start is zero already.
func (j zeroJob) run(ctx context.Context, w *worker) error {
	s := w.sink
	if err := s.fits(j.off, j.n); err != nil {
		return err
	}
	end := j.off + j.n
	s.raise(end)
	if tail := end % int64(s.sector); tail != 0 {
		end += int64(s.sector) - tail
	}
	if j.off < int64(len(s.start)) {
		n := min(end, int64(len(s.start))) - j.off
		s.zeroed.Add(n)
		if err := s.learn(int(n)); err != nil {
			return err
		}
	}
	for off := max(j.off, min(end, int64(len(s.start)))); off < end; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n := min(end-off, zeroStep)
		if err := s.zeroNow(off, n); err != nil {
			return fmt.Errorf("zero %d bytes at %d: %w", n, off, err)
		}
		off += n
		s.zeroed.Add(n)
	}
	return nil
}

// zeroNow zeroes by the quicker way.
func (s *sink) zeroNow(off, n int64) error {
	if n <= int64(len(s.zeros)) {
		_, err := s.dst.WriteAt(s.zeros[:n], off)
		return err
	}
	return s.dst.Zero(off, n)
}

// zero queues a run of zeroes.
func (s *sink) zero(ctx context.Context, off, n int64) error {
	if n == 0 {
		return nil
	}
	return s.queue(ctx, zeroJob{off: off, n: n})
}
