package disk

import (
	"context"
	"fmt"
	"hash/maphash"
)

// copyQcow2 writes the clusters of a qcow2 as the file passes by, each to its
// place, and zeroes the rest of the virtual disk.
func copyQcow2(ctx context.Context, f *feed, s *sink, m *qcow2Map) error {
	q := &qcow2Copy{qcow2Map: m, sink: s}
	q.verify.SetSeed(m.seed)
	err := f.each(ctx, func(c *chunk) error {
		if err := q.passTables(c); err != nil {
			return err
		}
		if err := q.passPlain(ctx, c); err != nil {
			return err
		}
		if err := q.passPartial(ctx, c); err != nil {
			return err
		}
		return q.passPacked(ctx, c)
	})
	if err != nil {
		return err
	}
	if q.nextPlain < len(m.plain) || q.nextPartial < len(m.partial) || q.nextPacked < len(m.packed) || len(q.open) > 0 ||
		q.nextTable < len(m.tables) {
		return fmt.Errorf("%w: qcow2 file ended before its last cluster", ErrFormat)
	}
	return q.zeroTo(ctx, m.size)
}

// qcow2Copy is the state between two chunks.
type qcow2Copy struct {
	*qcow2Map
	sink        *sink
	nextPlain   int
	nextPartial int
	nextPacked  int
	nextZero    int
	nextTable   int
	verify      maphash.Hash // of the table under way
	open        []*openCluster
	batch       batch
}

// zeroTo queues the runs of zeroes that start before disk offset off, so that
// a disk is written from start to end when the image is in that order.
func (q *qcow2Copy) zeroTo(ctx context.Context, off int64) error {
	for ; q.nextZero < len(q.zero); q.nextZero++ {
		r := q.zero[q.nextZero]
		first := int64(r.first) << q.clusterBits
		if first >= off {
			return nil
		}
		n := min(int64(r.count)<<q.clusterBits, q.size-first)
		if err := q.sink.zero(ctx, first, n); err != nil {
			return err
		}
	}
	return nil
}

// passTables compares the tables in a chunk with those that the map was made of.
func (q *qcow2Copy) passTables(c *chunk) error {
	end := c.off + int64(c.n)
	for q.nextTable < len(q.tables) {
		t := q.tables[q.nextTable]
		if t.off >= end {
			return nil
		}
		from, to := max(t.off, c.off), min(t.off+t.n, end)
		q.verify.Write(c.buf[from-c.off : to-c.off])
		if to < t.off+t.n {
			return nil
		}
		if q.verify.Sum64() != t.sum {
			return fmt.Errorf("%w: qcow2 table at %d differs from an earlier Range request: the image was changed meanwhile",
				ErrSource, t.off)
		}
		q.verify.Reset()
		q.nextTable++
	}
	return nil
}

// passPlain queues the uncompressed clusters in a chunk; neighbours in both
// file and disk are written at once.
func (q *qcow2Copy) passPlain(ctx context.Context, c *chunk) error {
	end := c.off + int64(c.n)
	for q.nextPlain < len(q.plain) && q.host(q.nextPlain) < end {
		first := q.nextPlain
		last := first
		for last+1 < len(q.plain) && q.plain[last+1] == q.plain[last]+(1<<32|1) && q.host(last+1) < end {
			last++
		}
		stop := q.host(last) + q.clusterSize()
		from, to := max(q.host(first), c.off), min(stop, end)
		at := q.guest(first) + from - q.host(first)
		to = min(to, from+q.size-at)
		if err := q.zeroTo(ctx, at); err != nil {
			return err
		}
		if to > from {
			if err := q.sink.write(ctx, c, c.buf[from-c.off:to-c.off], at); err != nil {
				return err
			}
		}
		q.nextPlain = last
		// The last cluster of all may be cut at the disk's end, when the file ends there too.
		if stop > end && end < q.fileSize {
			return nil
		}
		q.nextPlain++
	}
	return nil
}
