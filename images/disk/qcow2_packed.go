package disk

import (
	"context"
	"fmt"
)

// openCluster is a compressed cluster that began in an earlier chunk.
type openCluster struct {
	packedCluster
	data []byte
}

// batch is a run of compressed clusters, neighbours on the disk, that are
// decompressed and written together.
type batch struct {
	first int64    // guest cluster
	parts [][]byte // compressed, one per cluster
	from  *chunk   // holds the parts; nil when they are copies
}

// passPacked queues the compressed clusters that end in a chunk.
func (q *qcow2Copy) passPacked(ctx context.Context, c *chunk) error {
	data, end := c.bytes(), c.off+int64(c.n)
	var still []*openCluster
	for _, o := range q.open {
		o.data = append(o.data, data[:min(len(data), int(o.n)-len(o.data))]...)
		if len(o.data) < int(o.n) {
			still = append(still, o)
		} else if err := q.pack(ctx, int64(o.guest), o.data, nil); err != nil {
			return err
		}
	}
	q.open = still
	for ; q.nextPacked < len(q.packed) && q.packed[q.nextPacked].off < end; q.nextPacked++ {
		p := q.packed[q.nextPacked]
		part := data[p.off-c.off:]
		if int64(len(part)) < int64(p.n) {
			q.open = append(q.open, &openCluster{p, append(make([]byte, 0, p.n), part...)})
			continue
		}
		if err := q.pack(ctx, int64(p.guest), part[:p.n], c); err != nil {
			return err
		}
	}
	return q.flush(ctx)
}

// pack adds a compressed cluster to the batch.
func (q *qcow2Copy) pack(ctx context.Context, guest int64, data []byte, c *chunk) error {
	b := &q.batch
	full := int64(len(b.parts))<<q.clusterBits >= chunkSize
	if len(b.parts) > 0 && (full || guest != b.first+int64(len(b.parts))) {
		if err := q.flush(ctx); err != nil {
			return err
		}
	}
	if len(b.parts) == 0 {
		b.first = guest
	}
	if c != nil && b.from == nil {
		c.hold()
		b.from = c
	}
	b.parts = append(b.parts, data)
	return nil
}

// flush queues the batch.
func (q *qcow2Copy) flush(ctx context.Context) error {
	b := q.batch
	q.batch = batch{}
	if len(b.parts) == 0 {
		return nil
	}
	if err := q.zeroTo(ctx, b.first<<q.clusterBits); err != nil {
		return err
	}
	return q.sink.queue(ctx, inflateJob{batch: b, qcow2Map: q.qcow2Map})
}

// inflateJob decompresses and writes a batch.
type inflateJob struct {
	batch
	*qcow2Map
}

// run decompresses into the worker's buffer and writes once.
func (j inflateJob) run(_ context.Context, w *worker) error {
	if j.from != nil {
		defer j.from.release()
	}
	size := j.clusterSize()
	out := w.inflater.buffer(max(chunkSize, size))[:int64(len(j.parts))*size]
	for i, part := range j.parts {
		if err := w.inflater.cluster(out[int64(i)*size:][:size], part, j.zstd); err != nil {
			return fmt.Errorf("%w: qcow2 compressed cluster %d does not decompress: %w", ErrFormat, j.first+int64(i), err)
		}
	}
	at := j.first << j.clusterBits
	return w.sink.put(out[:min(int64(len(out)), j.size-at)], at)
}
