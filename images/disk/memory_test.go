package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

// voidTarget is a disk of any size that keeps nothing.
type voidTarget int64

func (v voidTarget) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (v voidTarget) Zero(int64, int64) error                { return nil }
func (v voidTarget) Size() int64                            { return int64(v) }
func (v voidTarget) LogicalSectorSize() int                 { return 512 }
func (v voidTarget) Flush() error                           { return nil }

// untouched notes that it was written to.
type untouched struct {
	voidTarget
	touched bool
}

func (u *untouched) WriteAt(p []byte, _ int64) (int, error) { u.touched = true; return len(p), nil }
func (u *untouched) Zero(int64, int64) error                { u.touched = true; return nil }

// peak runs f and returns how far the heap in use rose meanwhile, bytes.
func peak(t *testing.T, f func()) uint64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	base, high := m.HeapAlloc, uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				runtime.ReadMemStats(&m)
				high = max(high, m.HeapAlloc)
			}
		}
	}()
	f()
	close(stop)
	<-done
	return high - min(base, high)
}

// repeated is a stream of n bytes of noise and zeroes by turns.
type repeated struct {
	noise []byte
	n     int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), r.n, int64(len(r.noise))))
	if r.n>>24&1 == 0 {
		clear(p[:n])
	} else {
		copy(p, r.noise[:n])
	}
	r.n -= int64(n)
	return n, nil
}

// rawStream is a raw image made as it is read.
type rawStream int64

func (s rawStream) Name() string { return "stream" }
func (s rawStream) Size() int64  { return int64(s) }
func (s rawStream) Head() []byte { return make([]byte, headSize) }
func (s rawStream) Body(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(&repeated{pattern(1<<20, 40), int64(s)}), nil
}

func TestMemoryIsBounded(t *testing.T) {
	sparse := filepath.Join(t.TempDir(), "sparse.qcow2")
	qemuImg(t, "create", "-q", "-f", "qcow2", sparse, "4T")
	for _, cmd := range []string{"write 0 4M", "write 2T 8M", "write -c 3T 1M", "write 4398046507008 4k"} {
		if err := qemuIO(sparse, cmd); err != nil {
			t.Fatal(err)
		}
	}
	file, err := disktest.OpenFileSource(sparse)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	blocks := xzOf(t, make([]byte, 120<<20), "-T2", "--lzma2=preset=0,dict=8MiB", "--block-size=24MiB")
	tests := []struct {
		name  string
		src   Source
		size  int64
		limit uint64
	}{
		{"qcow2 of 4 TiB, sparse", file, 4 << 40, 40 << 20},
		{"raw of 512 MiB", rawStream(512 << 20), 512 << 20, 40 << 20},
		{"xz of which four blocks are under way", memSource{b: blocks}, 120 << 20, budget},
		{"zst with the largest window", memSource{b: windowZst(26, 128<<20)}, 128 << 20, budget + 4<<20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var res Result
			rose := peak(t, func() { res, err = Write(context.Background(), tt.src, voidTarget(tt.size), Options{}) })
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("heap rose by %d KiB for %d bytes", rose>>10, res.VirtualSize)
			if rose > tt.limit {
				t.Errorf("heap rose by %d bytes, expected at most %d", rose, tt.limit)
			}
			if res.Written+res.Zeroed != tt.size {
				t.Errorf("written %d + zeroed %d, expected %d", res.Written, res.Zeroed, tt.size)
			}
		})
	}
}

// windowZst is a zst frame of n bytes of text, in blocks of one repeated byte, that
// asks for a window of 2^bits bytes.
func windowZst(bits byte, n int) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (bits - 10) << 3}
	const block = 128 << 10
	for ; n > 0; n -= block {
		header := uint32(block<<3 | 1<<1) // of one byte, repeated
		if n <= block {
			header |= 1 // the last
		}
		b = append(b, byte(header), byte(header>>8), byte(header>>16), 0xff)
	}
	return b
}

// TestShare: for any need of the format and any number of CPUs, a write stays within its budget and has its minimum.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		name         string
		need, buffer int64
		cpus         int
		workers      int
		chunks       int
	}{
		{"raw, one CPU", 0, 0, 1, 2, 10},
		{"raw, many CPUs", 0, 0, 64, 8, 22},
		{"an ordinary compressed stream", streamLeast + packedChunks*chunkSize, 0, 2, 2, 10},
		{"the largest window", largestNeed + packedChunks*chunkSize, 0, 64, 2, 4},
		{"the largest map", largestNeed, chunkSize, 64, 2, 6},
		{"the largest map of the largest clusters", largestNeed, 2 << 20, 64, 2, 4},
		{"half the largest map", largestNeed / 2, chunkSize, 64, 8, 22},
	} {
		workers, chunks := share(tt.need, tt.buffer, tt.cpus)
		if workers != tt.workers || chunks != tt.chunks {
			t.Errorf("%s: %d workers, %d chunks, expected %d and %d", tt.name, workers, chunks, tt.workers, tt.chunks)
		}
	}
	for need := int64(0); need <= largestNeed+packedChunks*chunkSize; need += chunkSize {
		for cpus := 1; cpus <= 16; cpus++ {
			buffer := int64(2 << 20)
			if need > largestNeed { // a stream: its workers have no buffers
				buffer = 0
			}
			workers, chunks := share(need, buffer, cpus)
			if all := need + int64(workers)*buffer + int64(chunks)*chunkSize; all > budget || workers < 2 || chunks < 4 {
				t.Errorf("need %d, %d CPUs: %d workers, %d chunks, %d bytes in all", need, cpus, workers, chunks, all)
			}
		}
	}
}

// hugeTables is a qcow2 of 64 KiB clusters with every guest cluster in use. Its tables are made as they are read: L1
// in cluster 1, then the L2 tables, then the clusters, of 512 bytes each when they are packed.
type hugeTables struct {
	guests int64
	packed bool
	head   []byte
}

func newHugeTables(guests int64, packed bool) hugeTables {
	h := hugeTables{guests, packed, make([]byte, headSize)}
	be := binary.BigEndian
	copy(h.head, "QFI\xfb")
	be.PutUint32(h.head[4:], 2)
	be.PutUint32(h.head[20:], 16)
	be.PutUint64(h.head[24:], uint64(guests)<<16)
	be.PutUint32(h.head[36:], uint32(h.l2s()))
	be.PutUint64(h.head[40:], 1<<16)
	return h
}

func (h hugeTables) l2s() int64                                  { return (h.guests-1)>>13 + 1 }
func (h hugeTables) Name() string                                { return "huge" }
func (h hugeTables) Size() int64                                 { return h.cluster(h.guests) }
func (h hugeTables) Head() []byte                                { return h.head }
func (h hugeTables) Body(context.Context) (io.ReadCloser, error) { return nil, os.ErrClosed }

// cluster is where the i-th data cluster is in the file.
func (h hugeTables) cluster(i int64) int64 {
	if h.packed {
		return (2+h.l2s())<<16 + i*512
	}
	return (2 + h.l2s() + i) << 16
}

func (h hugeTables) ReadRange(_ context.Context, p []byte, off int64) error {
	for i := 0; i < len(p); i += 8 {
		at := off + int64(i)
		entry := uint64(2+at&(1<<16-1)>>3)<<16 | entryCopied // L1: the L2 tables in order
		if at >= 2<<16 {                                     // L2: the clusters in order
			entry = uint64(h.cluster((at-2<<16)>>3)) | entryCopied
			if h.packed {
				entry ^= entryCopied | entryCompressed
			}
		}
		binary.BigEndian.PutUint64(p[i:], entry)
	}
	return nil
}

// TestMapBudget: 512 GiB of 64 KiB clusters fit the map, or half as much when
// they are compressed; more is refused, and neither takes more memory than the
// package says.
func TestMapBudget(t *testing.T) {
	for _, tt := range []struct {
		guests int64
		packed bool
		fits   bool
	}{{8<<20 - 8192, false, true}, {9 << 20, false, false}, {4<<20 - 8192, true, true}, {5 << 20, true, false}} {
		src := newHugeTables(tt.guests, tt.packed)
		var err error
		rose := peak(t, func() { _, err = openQcow2(context.Background(), src, voidTarget(1<<50)) })
		if (err == nil) != tt.fits || err != nil &&
			(!errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "convert it with larger clusters")) {
			t.Errorf("%d clusters, packed %v: %v", tt.guests, tt.packed, err)
		}
		if rose > mapBudget+4<<20 {
			t.Errorf("%d clusters, packed %v: heap rose by %d bytes", tt.guests, tt.packed, rose)
		}
		if tt.fits {
			continue
		}
		dst := &untouched{voidTarget: 1 << 50}
		if _, again := Write(context.Background(), src, dst, Options{}); !errors.Is(again, ErrFormat) || dst.touched {
			t.Errorf("%d clusters, packed %v: %v; the disk was touched: %v", tt.guests, tt.packed, again, dst.touched)
		}
	}
}
