package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

const (
	zeroBlock = 256 << 10 // granularity in which streams are searched for zeroes
	maxWindow = 128 << 20 // of a zst stream, bytes: what zstd itself takes without being asked for more
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

// decompressor opens the stream of a compressed format.
func decompressor(format Format, r io.Reader, threads int) (io.Reader, func(), error) {
	switch format {
	case Gzip:
		d, err := gzip.NewReader(r)
		return d, func() {}, err
	case Zstd:
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(threads), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(false))
		if err != nil {
			return nil, nil, err
		}
		return d, d.Close, nil
	case XZ:
		d, err := newXz(r)
		return d, func() {}, err
	default:
		return nil, nil, fmt.Errorf("%w: %s is not a compressed stream", ErrFormat, format)
	}
}

// copyCompressed writes the raw image inside a gz, zst or xz stream. Output is
// bounded by the target's size, so a bomb ends at the disk's end.
func copyCompressed(ctx context.Context, f *feed, s *sink, format Format, out pool, threads int) error {
	in := &feedReader{ctx: ctx, feed: f}
	d, closeIt, err := decompressor(format, in, threads)
	if err != nil {
		return broken(format, 0, err)
	}
	defer closeIt()
	z := newSplitter(s)
	for off := int64(0); ; {
		c, err := out.get(ctx)
		if err != nil {
			return err
		}
		ended, err := fill(d, c, off)
		if err != nil {
			return broken(format, off+int64(c.n), err)
		}
		if err := takeInner(ctx, z, c); err != nil {
			return err
		}
		if off += int64(c.n); ended {
			return z.flush(ctx)
		}
	}
}

// fill reads a chunk's worth of decompressed bytes, unlike io.ReadFull telling
// the stream's end from its being broken off.
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

// takeInner queues decompressed bytes. What is inside must be a raw image:
// another container would be written as if it were a disk.
func takeInner(ctx context.Context, z *splitter, c *chunk) error {
	defer c.release()
	if c.off == 0 {
		inner, err := Detect(c.bytes())
		if err == nil && inner != Raw {
			err = fmt.Errorf("%w: it is %s, expected a raw image; unpack it, a qcow2 can be compressed inside (qemu-img convert -c)", ErrFormat, inner)
		}
		if err != nil {
			return fmt.Errorf("inside the compressed stream: %w", err)
		}
	}
	if err := z.sink.fits(c.off, int64(c.n)); err != nil {
		return err
	}
	return z.chunk(ctx, c)
}

// broken explains a stream that does not decompress. Errors of the source
// stay what they are.
func broken(format Format, off int64, err error) error {
	if errors.Is(err, ErrSource) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, xz.ErrMemlimit) {
		return fmt.Errorf("%w: its %s stream takes more memory after %d bytes of disk than at its start: %w", ErrFormat, format, off, err)
	}
	return fmt.Errorf("%w: its %s stream is damaged after %d bytes of disk: %w", ErrFormat, format, off, err)
}

// checkZst refuses what the first frame says of itself: a window that takes
// too much memory, or a disk larger than size. More frames may follow.
func checkZst(head []byte, size int64) error {
	var h zstd.Header
	if err := h.Decode(head); err != nil || h.Skippable {
		return nil // what is wrong is left to the decompressor to find
	}
	window := h.WindowSize
	if h.SingleSegment { // RFC 8878, section 3.1.1.1.1.2: it is as large as the content
		window = h.FrameContentSize
	}
	switch {
	case h.HasFCS && h.FrameContentSize > uint64(size):
		return fmt.Errorf("%w: disk has %d bytes, image needs at least %d", ErrTooSmall, size, h.FrameContentSize)
	case window > maxWindow:
		return fmt.Errorf("%w: its zst stream needs a window of %d MiB, expected at most %d; compress it without --long or with --long=27",
			ErrFormat, window>>20, maxWindow>>20)
	}
	return nil
}
