package disk

import (
	"context"
	"fmt"
	"math/bits"
)

// partialCluster is a cluster of the file of which only some subclusters have
// data: bit i of data is subcluster i. The others read as zeroes.
type partialCluster struct{ host, guest, data uint32 }

// extendedL2 reads the extended entry of one guest cluster: an L2 entry, and the
// bitmaps of the subclusters with data (low half) and of those that read as zeroes
// (high half). A subcluster in neither reads as zeroes too, since there is no backing
// file.
func (l *tableLoader) extendedL2(guest int64, entry, bitmaps uint64) error {
	data, zero := uint32(bitmaps), uint32(bitmaps>>32)
	switch off := entry & entryOffset; {
	case entry&entryCompressed != 0 && bitmaps != 0:
		return fmt.Errorf("%w: qcow2 compressed cluster %d has subclusters (bitmaps %#x)", ErrFormat, guest, bitmaps)
	case entry&entryCompressed != 0:
		return l.compressed(guest, entry)
	case entry&entryZero != 0:
		return fmt.Errorf("%w: qcow2 cluster %d has entry %#x: reserved bits are set", ErrFormat, guest, entry)
	case data&zero != 0:
		return fmt.Errorf("%w: qcow2 cluster %d has subclusters that are both data and zeroes (bitmaps %#x)", ErrFormat,
			guest, bitmaps)
	case off == 0 && data != 0:
		return fmt.Errorf("%w: qcow2 cluster %d has subclusters but no place in the file (bitmaps %#x)", ErrFormat,
			guest, bitmaps)
	case data == 0:
		return l.l2(guest, entry|entryZero)
	case data == 1<<subclusters-1:
		return l.l2(guest, entry)
	case entry&^(entryCopied|entryOffset) != 0 || off&uint64(l.clusterSize()-1) != 0:
		return l.l2(guest, entry) // which refuses it
	}
	off := int64(entry & entryOffset)
	host, err := l.hostCluster(guest, off, int64(bits.Len32(data))*l.unit())
	if err != nil {
		return err
	}
	l.partial = append(room(l.partial, l.fileSize>>l.clusterBits, mapBudget/12),
		partialCluster{host: uint32(host), guest: uint32(guest), data: data})
	return nil
}

// run is the number of subclusters from i on that are all data, or all zeroes.
func (p partialCluster) run(i int) int {
	rest := p.data >> i
	if rest&1 != 0 {
		rest = ^rest
	}
	return min(bits.TrailingZeros32(rest), subclusters-i)
}

// passPartial queues the subclusters in a chunk, in runs. None crosses from one
// chunk to the next: both begin at multiples of a subcluster's size.
func (q *qcow2Copy) passPartial(ctx context.Context, c *chunk) error {
	end := c.off + int64(c.n)
	for ; q.nextPartial < len(q.partial); q.nextPartial++ {
		p := q.partial[q.nextPartial]
		host := int64(p.host) << q.clusterBits
		if host >= end {
			return nil
		}
		if err := q.zeroTo(ctx, int64(p.guest)<<q.clusterBits); err != nil {
			return err
		}
		stop := subclusters
		if end < q.fileSize { // where the file ends, zeroes may follow all the same
			stop = int(min((end-host)/q.unit(), subclusters))
		}
		for i := int(max(c.off-host, 0) / q.unit()); i < stop; {
			n := min(p.run(i), stop-i)
			if err := q.subclusters(ctx, c, p, i, n); err != nil {
				return err
			}
			i += n
		}
		if stop < subclusters {
			return nil
		}
	}
	return nil
}

// subclusters queues n subclusters of p from number i on, all data or all
// zeroes, as far as they lie on the disk.
func (q *qcow2Copy) subclusters(ctx context.Context, c *chunk, p partialCluster, i, n int) error {
	skip := int64(i) * q.unit()
	at := int64(p.guest)<<q.clusterBits + skip
	size := min(int64(n)*q.unit(), q.size-at)
	switch {
	case size <= 0:
		return nil
	case p.data>>i&1 == 0:
		return q.sink.zero(ctx, at, size)
	}
	from := int64(p.host)<<q.clusterBits + skip - c.off
	return q.sink.write(ctx, c, c.buf[from:from+size], at)
}
