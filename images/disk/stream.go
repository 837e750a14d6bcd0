package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

const (
	zeroBlock = 256 << 10   // granularity in which streams are searched for zeroes
	maxWindow = largestNeed // of a zst stream, bytes
)

// splitter divides a sequential stream into data and runs of zeroes.
type splitter struct {
	sink     *sink
	none     []byte // zeroBlock zeroes to compare with
	zeroFrom int64  // the run under way is zeroFrom..zeroTo
	zeroTo   int64
}

// newSplitter starts at offset 0.
func newSplitter(s *sink) *splitter { return &splitter{sink: s, none: make([]byte, zeroBlock)} }

// begin starts at off again, after a flush.
func (z *splitter) begin(off int64) { z.zeroFrom, z.zeroTo = off, off }

// chunk queues a chunk's data for writing and adds its zero blocks to the run.
func (z *splitter) chunk(ctx context.Context, c *chunk) error {
	data := c.bytes()
	for at := 0; at < len(data); {
		end, zero := z.segment(data, at)
		if zero {
			z.zeroTo = c.off + int64(end)
		} else {
			if err := z.flush(ctx); err != nil {
				return err
			}
			if err := z.sink.write(ctx, c, data[at:end], c.off+int64(at)); err != nil {
				return err
			}
			z.zeroFrom, z.zeroTo = c.off+int64(end), c.off+int64(end)
		}
		at = end
	}
	if z.zeroTo-z.zeroFrom >= zeroStep {
		return z.flush(ctx)
	}
	return nil
}

// segment finds where the blocks like the one at at end.
func (z *splitter) segment(data []byte, at int) (end int, zero bool) {
	for end = at; end < len(data); {
		block := data[end:min(end+zeroBlock, len(data))]
		is := bytes.Equal(block, z.none[:len(block)])
		if end == at {
			zero = is
		} else if is != zero {
			break
		}
		end += len(block)
	}
	return end, zero
}

// flush queues the run under way.
func (z *splitter) flush(ctx context.Context) error {
	from, n := z.zeroFrom, z.zeroTo-z.zeroFrom
	z.zeroFrom = z.zeroTo
	return z.sink.zero(ctx, from, n)
}

// copyRaw writes a raw image.
func copyRaw(ctx context.Context, f *feed, s *sink) error {
	z := newSplitter(s)
	err := f.each(ctx, func(c *chunk) error {
		if err := s.begins(c); err != nil {
			return err
		}
		if err := s.fits(c.off, int64(c.n)); err != nil {
			return err
		}
		return z.chunk(ctx, c)
	})
	if err != nil {
		return err
	}
	return z.flush(ctx)
}

// stream is the compression of a raw image.
type stream struct {
	format   Format
	memory   int64     // that its window or dictionary may take, bytes
	cpus     int       // of this machine
	decoders int       // of runs of it at once, each with as much memory
	sum      hash.Hash // over the decompressed bytes; nil when it is not asked for
}

// open starts to decompress r.
func (s stream) open(r byteScanner) (d io.Reader, closeIt func(), err error) {
	switch s.format {
	case Gzip:
		d, err = newGzipMembers(r)
	case Zstd:
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(zstdBlocks(s.cpus)),
			zstd.WithDecoderMaxWindow(uint64(s.memory)))
		if err != nil {
			return nil, nil, err
		}
		return d, d.Close, nil
	default:
		err = fmt.Errorf("%w: %s is not a stream that is read from start to end", ErrFormat, s.format)
	}
	return d, func() {}, err
}

// zstdBlocks is the number of blocks of a zst stream that are under way at once. From
// two on the decoder is a pipeline of three goroutines, which takes a fifth more CPU
// time than a single one. With only two CPUs the other is busy with the download, the
// checksum and the disk, and one goroutine is faster (images written at 400 MB/s: by a
// tenth).
func zstdBlocks(cpus int) int {
	if cpus <= 2 {
		return 1
	}
	return min(cpus, mostWorkers)
}

// copyCompressed writes the raw image inside a gz or zst stream, and reports whether bytes follow it that are
// no part of it.
func copyCompressed(ctx context.Context, f *feed, s *sink, packed stream, out pool) (rubbish bool, err error) {
	d, closeIt, err := packed.open(&feedReader{ctx: ctx, feed: f})
	if err != nil {
		return false, packed.broken(0, err)
	}
	defer closeIt()
	err = packed.unpack(ctx, d, newSplitter(s), 0, out)
	if g, ok := d.(*gzipMembers); ok {
		rubbish = g.rubbish
	}
	return rubbish, err
}

// unpack writes the output of d at off. Output is bounded by the target's size, so a bomb ends at the disk's end.
func (s stream) unpack(ctx context.Context, d io.Reader, z *splitter, off int64, out pool) error {
	for z.begin(off); ; {
		c, err := out.get(ctx)
		if err != nil {
			return err
		}
		ended, err := fill(d, c, off)
		off += int64(c.n) // now: once released, the chunk may be another decoder's
		if err != nil {
			return s.broken(off, err)
		}
		if s.sum != nil {
			s.sum.Write(c.bytes())
		}
		if err := takeInner(ctx, z, c); err != nil {
			return err
		}
		if ended {
			return z.flush(ctx)
		}
	}
}

// fill reads a chunk's worth of decompressed bytes, and unlike io.ReadFull distinguishes the
// stream's end from a break.
func fill(d io.Reader, c *chunk, off int64) (ended bool, err error) {
	c.n, c.off = 0, off
	for c.n < len(c.buf) {
		n, err := d.Read(c.buf[c.n:])
		c.n += n
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// takeInner queues decompressed bytes. The contents must be a raw image: another container
// would be written as if it were a disk.
func takeInner(ctx context.Context, z *splitter, c *chunk) error {
	defer c.release()
	if err := z.sink.begins(c); err != nil {
		return fmt.Errorf("inside the compressed stream: %w", err)
	}
	if err := z.sink.fits(c.off, int64(c.n)); err != nil {
		return err
	}
	return z.chunk(ctx, c)
}

// broken explains a stream that does not decompress. It leaves errors of the source
// unchanged.
func (s stream) broken(off int64, err error) error {
	switch {
	case errors.Is(err, ErrSource), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err,
		xz.ErrMemlimit):
		return fmt.Errorf("%w: its %s stream takes more memory after %d bytes of disk than at its start, "+
			"which had %d MiB reserved for it; compress it in one piece",
			ErrFormat, s.format, off, s.memory>>20)
	}
	return fmt.Errorf("%w: its %s stream is damaged after %d bytes of disk: %w", ErrFormat, s.format, off, err)
}

// zstWindow is the memory for the stream's first frame in bytes, but at least streamLeast, because more frames may
// follow. It refuses a frame that has too large a window, or content larger than size.
func zstWindow(head []byte, size int64) (int64, error) {
	var h zstd.Header
	for {
		if err := h.Decode(head); err != nil {
			return maxWindow, nil //nolint:nilerr // the decompressor finds the error
		}
		if !h.Skippable {
			break
		}
		next := int64(h.HeaderSize) + int64(h.SkippableSize)
		head = head[min(next, int64(len(head))):]
	}
	window := h.WindowSize
	if h.SingleSegment { // RFC 8878, section 3.1.1.1.1.2: it is as large as the content
		window = h.FrameContentSize
	}
	switch {
	case h.HasFCS && h.FrameContentSize > uint64(size):
		return 0, tooSmall(size, h.FrameContentSize)
	case window > maxWindow: // 2^26 bytes, hence the 26
		return 0, fmt.Errorf("%w: its zst stream needs a window of %d MiB, expected at most %d; "+
			"compress it again with zstd --long=26, or without --long and --ultra",
			ErrFormat, window>>20, maxWindow>>20)
	}
	return max(streamLeast, int64(window)), nil
}
