package disk

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/therootcompany/xz"
	"golang.org/x/sync/errgroup"
)

// maxDictionary limits the memory of an xz stream in bytes: the need of xz -9.
const maxDictionary = largestNeed

// Parts of an xz file (the .xz file format 1.2.1, sections 2.1.1, 3.1 and 5.3.1).
const (
	xzStreamHeader     = 12 // bytes
	xzHasPacked        = 0x40
	xzHasUnpacked      = 0x80
	xzFilters          = 0x03 // one less than there are
	xzLZMA2            = 0x21
	xzLZMA2LargestSize = 40
)

// xzBlock reads the first block's header, as far as head has it: the dictionary it is
// decompressed with and its size when unpacked, in bytes, 0 where it does not say. More
// blocks may follow. The decompressor finds its faults.
func xzBlock(head []byte) (dictionary, unpacked uint64) {
	if len(head) < xzStreamHeader+2 || head[xzStreamHeader] == 0 { // 0: the index, no blocks
		return 0, 0
	}
	b := head[xzStreamHeader:]
	b = b[1:min((int(b[0])+1)*4, len(b))]
	flags := b[0]
	b = b[1:]
	if flags&xzHasPacked != 0 {
		_, b = xzInteger(b)
	}
	if flags&xzHasUnpacked != 0 {
		unpacked, b = xzInteger(b)
	}
	for range int(flags&xzFilters) + 1 {
		var id, n uint64
		id, b = xzInteger(b)
		n, b = xzInteger(b)
		if n > uint64(len(b)) {
			return 0, unpacked
		}
		if id == xzLZMA2 && n == 1 && b[0] <= xzLZMA2LargestSize {
			return uint64(2|b[0]&1) << (b[0]/2 + 11), unpacked
		}
		b = b[n:]
	}
	return 0, unpacked
}

// xzInteger reads a number of 7 bits a byte; 0 and nothing when there is none.
func xzInteger(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil
	}
	return v, b[n:]
}

// xzDictionary is the memory for the stream's first block in bytes, but at least streamLeast, because more blocks may
// follow. It refuses a block that has too large a dictionary, or content larger than size.
func xzDictionary(head []byte, size int64) (int64, error) {
	dictionary, unpacked := xzBlock(head)
	switch {
	case dictionary > maxDictionary:
		return 0, fmt.Errorf("%w: its xz stream needs a dictionary of %d MiB, expected at most %d; "+
			"compress it again with xz -9 or less",
			ErrFormat, dictionary>>20, maxDictionary>>20)
	case unpacked > uint64(size):
		return 0, tooSmall(size, unpacked)
	case dictionary == 0: // it does not say
		return maxDictionary, nil
	}
	return max(streamLeast, int64(dictionary)), nil
}

// copyXZ writes the raw image inside an xz file. It decompresses as many of the runs
// that the walk finds at once as there is memory for.
func copyXZ(ctx context.Context, f *feed, s *sink, packed stream, out pool) error {
	g, ctx := errgroup.WithContext(ctx)
	runs := make(chan *segment)
	g.Go(func() error {
		w := &xzWalk{in: tap{ctx: ctx, feed: f}, sector: int64(s.sector), size: s.size, pieces: cap(f.pool) + 8, runs: runs}
		if err := w.walk(); err != nil {
			return packed.broken(w.off, err)
		}
		return nil
	})
	for range packed.decoders {
		g.Go(func() error {
			d, err := xz.NewReader(nil, uint32(packed.memory))
			if err != nil {
				return err
			}
			z := newSplitter(s)
			for r := range runs {
				if err := d.Reset(r); err != nil {
					return packed.broken(r.off, err)
				}
				if err := packed.unpack(ctx, d, z, r.off, out); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
