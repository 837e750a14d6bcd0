package disk

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options are the options of Write.
type Options struct {
	Format        string         // Ironic's disk_format; empty: found by the first bytes
	Checksum      Checksum       // over the bytes as they are downloaded
	AllowMD5      bool           // MD5 is refused otherwise
	Progress      func(Progress) // called from one goroutine, once more at the end; may be nil
	ProgressEvery time.Duration  // 500 ms when zero
	// Before is called right before the first byte is written. An error ends the write. May
	// be nil.
	Before func(ctx context.Context) error
	// Start sees the disk's first 64 KiB as soon as they have come, and its error ends the
	// write before the rest is fetched. It is not called for a smaller image. It must not
	// change or keep the bytes. May be nil.
	Start func(first []byte) error
}

// Result is the result of Write.
type Result struct {
	Format      Format
	VirtualSize int64 // bytes of the disk the image describes
	BytesRead   int64 // of the image
	Written     int64 // bytes of data
	Zeroed      int64 // bytes made to read as zeroes
	Sum         string
	Warnings    []string
}

// Write writes the image from src onto dst, in one pass over its bytes. Until
// it has succeeded the target's first 64 KiB are zeroes, so that it does not
// boot; all that can be checked beforehand (format, fit, tables) is checked
// before the first byte is written.
func Write(ctx context.Context, src Source, dst Target, opts Options) (Result, error) {
	w := &write{src: src, dst: dst, opts: opts}
	if err := w.run(ctx); err != nil {
		return w.result, fmt.Errorf("write image %s: %w", src.Name(), err)
	}
	return w.result, nil
}

// write is one call of Write.
type write struct {
	src      Source
	dst      Target
	opts     Options
	result   Result
	hash     hash.Hash
	need     int64 // of memory by the format, bytes
	qcow2    *qcow2Map
	feed     *feed
	sink     *sink
	packed   stream // when the image is one
	unpacked pool   // for decompressed bytes
	coding   string // that the server named unasked
	rubbish  bool   // other bytes follow a gz stream
}

// run goes through the whole write.
func (w *write) run(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	body, err := w.src.Body(gctx) // its reads end with the group
	if err != nil {
		return err
	}
	defer body.Close()
	workers := w.allot()
	if w.opts.Before != nil {
		if err := w.opts.Before(ctx); err != nil {
			return err
		}
	}
	if err := w.sink.clear(); err != nil {
		return err
	}
	stop := w.startProgress(ctx)
	defer stop()
	w.feed.start(gctx, g, body)
	w.sink.startWorkers(gctx, g, workers)
	g.Go(func() error {
		defer close(w.sink.jobs)
		return w.copy(gctx)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return w.complete()
}

// prepare finds faults before anything is written.
func (w *write) prepare(ctx context.Context) error {
	var err error
	w.coding = codingOf(w.src)
	if w.result.Format, err = choose(w.src.Head(), w.opts.Format); err != nil {
		return err
	}
	if err := w.prepareHash(); err != nil {
		return err
	}
	w.result.VirtualSize = -1
	switch w.result.Format {
	case Raw:
		w.result.VirtualSize = w.src.Size()
	case Zstd:
		if w.need, err = zstWindow(w.src.Head(), w.dst.Size()); err != nil {
			return err
		}
	case XZ:
		if w.need, err = xzDictionary(w.src.Head(), w.dst.Size()); err != nil {
			return err
		}
	case ISO, Kernel, Ramdisk: // choose refuses them
	case Gzip: // says nothing of its size that could be trusted
	case QCOW2:
		if w.qcow2, err = openQcow2(ctx, w.src, w.dst); err != nil {
			return err
		}
		w.need = int64(w.qcow2.bytes())
		w.result.VirtualSize = w.qcow2.size
		w.result.Warnings = w.qcow2.warnings
	}
	if w.result.VirtualSize == 0 || w.src.Size() == 0 {
		return fmt.Errorf("%w: it is empty", ErrFormat)
	}
	if w.result.VirtualSize > w.dst.Size() {
		return tooSmall(w.dst.Size(), w.result.VirtualSize)
	}
	return nil
}

// prepareHash readies the checksum asked for.
func (w *write) prepareHash() error {
	c := w.opts.Checksum
	if c.Algorithm == "" {
		if c.Sum != "" {
			return fmt.Errorf("%w: sum %q comes without an algorithm", ErrChecksum, clip(c.Sum))
		}
		return nil
	}
	if c.Algorithm == MD5 && !w.opts.AllowMD5 {
		return fmt.Errorf("%w: md5 is not allowed here; give a sha256 or sha512 sum", ErrChecksum)
	}
	if c.Sum != "" {
		var err error
		if w.opts.Checksum, err = NewChecksum(string(c.Algorithm), c.Sum); err != nil {
			return err
		}
	}
	var err error
	if w.hash, err = newHash(c.Algorithm); err == nil && w.coding != "" &&
		(w.result.Format == Gzip || w.result.Format == Zstd) {
		w.packed.sum, err = newHash(c.Algorithm)
	}
	return err
}

// allot makes the pools and says how many workers there are to be.
func (w *write) allot() (workers int) {
	var chunks int
	cpus := runtime.GOMAXPROCS(0)
	switch w.result.Format {
	case Gzip, Zstd, XZ:
		decoders, packed := 1, packedChunks
		if w.result.Format == XZ {
			decoders, packed = spread(w.need, cpus)
		}
		workers, chunks = share(int64(decoders)*w.need+int64(packed)*chunkSize, 0, cpus)
		w.packed = stream{format: w.result.Format, memory: w.need, cpus: cpus, decoders: decoders, sum: w.packed.sum}
		w.unpacked = newPool(chunks)
		chunks = packed
	case QCOW2:
		workers, chunks = share(w.need, max(chunkSize, w.qcow2.clusterSize()), cpus)
	default:
		workers, chunks = share(w.need, 0, cpus)
	}
	w.feed = newFeed(w.src.Size(), newPool(chunks), w.hash)
	w.sink = newSink(w.dst, workers)
	w.sink.look, w.sink.iso = w.opts.Start, w.opts.Format == "raw" || w.opts.Format == "gpt"
	return workers
}

// copy runs the reader of the image's format.
func (w *write) copy(ctx context.Context) error {
	switch w.result.Format {
	case QCOW2:
		return copyQcow2(ctx, w.feed, w.sink, w.qcow2)
	case Gzip, Zstd:
		var err error
		w.rubbish, err = copyCompressed(ctx, w.feed, w.sink, w.packed, w.unpacked)
		return err
	case XZ:
		return copyXZ(ctx, w.feed, w.sink, w.packed, w.unpacked)
	default:
		return copyRaw(ctx, w.feed, w.sink)
	}
}

// complete compares the checksum and, when it is right, makes the disk whole.
func (w *write) complete() error {
	w.result.BytesRead = w.feed.read.Load()
	w.result.Written, w.result.Zeroed = w.sink.written.Load(), w.sink.zeroed.Load()
	if w.result.VirtualSize < 0 {
		w.result.VirtualSize = w.sink.high.Load()
	}
	if err := w.compare(); err != nil {
		return err
	}
	if w.sink.high.Load() == 0 {
		return fmt.Errorf("%w: there is no disk in it", ErrFormat)
	}
	return w.sink.finish()
}

// compare checks the bytes against their checksum. For a coded image it may be the sum of the received or of the
// written bytes: both describe the same disk.
func (w *write) compare() error {
	want, proven := w.opts.Checksum, false
	if w.hash != nil {
		w.result.Sum = hex.EncodeToString(w.hash.Sum(nil))
		proven = want.Sum == w.result.Sum
	}
	if want.Sum != "" && !proven {
		wrong := &ChecksumError{Want: want, Got: w.result.Sum}
		if w.coding == "" {
			return wrong
		}
		if sum := w.packed.sum; sum == nil || hex.EncodeToString(sum.Sum(nil)) != want.Sum {
			return codedError{wrong, w.coding}
		}
		w.result.Sum = want.Sum
	}
	switch {
	case w.rubbish && !proven:
		return errRubbish
	case w.rubbish:
		w.result.Warnings = append(w.result.Warnings, "other bytes follow its gz stream: they were left out, as gzip does; "+
			"the checksum of the whole file is right")
	}
	return nil
}

// startProgress reports until the returned function is called, which reports
// a last time.
func (w *write) startProgress(ctx context.Context) (stop func()) {
	if w.opts.Progress == nil {
		return func() {}
	}
	r := &reporter{
		call: w.opts.Progress, every: w.opts.ProgressEvery, read: &w.feed.read,
		done:  func() int64 { return w.sink.written.Load() + w.sink.zeroed.Load() },
		total: w.result.VirtualSize, size: w.src.Size(),
	}
	if r.every <= 0 {
		r.every = 500 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { r.run(ctx) })
	return func() {
		cancel()
		wg.Wait()
		r.report()
	}
}
