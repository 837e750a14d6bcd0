package disk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/therootcompany/xz"
	"golang.org/x/sync/errgroup"
)

// unxz writes an xz file onto a disk of size bytes, with so many decoders and chunks
// for input, and returns the part of the disk that the image covers.
func unxz(image []byte, size int64, decoders, chunks int) ([]byte, error) {
	dst := newMemTarget(size, 512)
	g, ctx := errgroup.WithContext(context.Background())
	f, s := newFeed(int64(len(image)), newPool(chunks), nil), newSink(dst, 2)
	f.start(ctx, g, bytes.NewReader(image))
	s.startWorkers(ctx, g, 2)
	g.Go(func() error {
		defer close(s.jobs)
		return copyXZ(ctx, f, s, stream{format: XZ, memory: streamLeast, decoders: decoders}, newPool(decoders+1))
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return dst.b[:s.high.Load()], nil
}

// unxzByLibrary is the decompressor's output for a whole file.
func unxzByLibrary(image []byte) ([]byte, error) {
	d, err := xz.NewReader(bytes.NewReader(image), streamLeast)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(d)
}

// TestXzByManyDecoders: several decoders give the same bytes as one, with any options
// of xz, and with little memory for waiting runs.
func TestXzByManyDecoders(t *testing.T) {
	t.Parallel()
	raw := pattern(4<<20+512, 60)
	joined := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	tests := []struct {
		name  string
		image []byte
	}{
		{"one block", xzOf(t, raw, "-T1")},
		{"blocks with sizes", xzOf(t, raw, "-T2", "--block-size=1MiB")},
		{"blocks without sizes", xzOf(t, raw, "-T1", "--block-size=1MiB")},
		{"blocks amid sectors", xzOf(t, raw, "-T2", "--block-size=1000001")},
		{"blocks of many sizes", xzOf(t, raw, "-T2", "--block-list=1MiB,512,3,509,1MiB,0")},
		{"small blocks", xzOf(t, raw, "-T2", "--block-size=16KiB")},
		{"no check", xzOf(t, raw, "-T2", "--block-size=2MiB", "--check=none")},
		{"CRC32", xzOf(t, raw, "-T2", "--block-size=2MiB", "--check=crc32")},
		{"CRC64", xzOf(t, raw, "-T2", "--block-size=2MiB", "--check=crc64")},
		{"SHA-256", xzOf(t, raw, "-T2", "--block-size=2MiB", "--check=sha256")},
		{"filtered", xzOf(t, raw, "-T2", "--block-size=1MiB", "--x86", "--delta=dist=4", "--lzma2=preset=0")},
		{"streams", joined(xzOf(t, raw[:2<<20], "-T2", "--block-size=1MiB"), xzOf(t, raw[2<<20:3<<20+100], "--check=none"),
			xzOf(t, raw[3<<20+100:]))},
		{"streams and padding", joined(xzOf(t, raw[:3<<20]), make([]byte, 1<<20+4), xzOf(t, nil), make([]byte, 4),
			xzOf(t, raw[3<<20:]), make([]byte, 8))},
	}
	for _, tt := range tests {
		for _, decoders := range []int{1, 2, 5} {
			got, err := unxz(tt.image, 5<<20, decoders, packedChunks)
			if err != nil {
				t.Errorf("%s, %d decoders: %v", tt.name, decoders, err)
				continue
			}
			t.Run(fmt.Sprintf("%s, %d decoders", tt.name, decoders), func(t *testing.T) { sameDisk(t, got, raw) })
		}
	}
}

// TestXzWalkGoesAhead: every run is found before any is decompressed, as far as there is memory for the bytes in
// between.
func TestXzWalkGoesAhead(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"with sizes": {"-T2"}, "without sizes": {"-T1"}} {
		image := xzOf(t, pattern(6<<20, 63), append(args, "--block-size=2MiB")...)
		var g errgroup.Group
		ctx := context.Background()
		f, runs := newFeed(int64(len(image)), newPool(8), nil), make(chan *segment)
		f.start(ctx, &g, bytes.NewReader(image))
		g.Go((&xzWalk{in: tap{ctx: ctx, feed: f}, sector: 512, size: 6 << 20, pieces: 16, runs: runs}).walk)
		var waiting []*segment
		for r := range runs {
			waiting = append(waiting, r)
		}
		if err := g.Wait(); err != nil || len(waiting) != 3 {
			t.Fatalf("blocks %s: %d runs, expected 3; %v", name, len(waiting), err)
		}
		for i, r := range slices.Backward(waiting) {
			d, err := xz.NewReader(r, streamLeast)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, d)
			if err != nil || n != 2<<20 || r.off != int64(i)<<21 {
				t.Errorf("blocks %s: run %d at %d has %d bytes, %v", name, i, r.off, n, err)
			}
		}
	}
}

// twoBlocks is an xz file of two blocks, and where its parts begin.
type twoBlocks struct {
	b                     []byte
	second, index, footer int
}

// newTwoBlocks finds the parts from the file's end on, as the format's
// specification has it.
func newTwoBlocks(t testing.TB, args ...string) *twoBlocks {
	t.Helper()
	b := xzOf(t, pattern(2<<20, 61), append([]string{"-T2", "--block-size=1MiB"}, args...)...)
	x := &twoBlocks{b: b, footer: len(b) - 12}
	x.index = x.footer - 4*(1+int(binary.LittleEndian.Uint32(b[x.footer+4:])))
	unpadded, n := binary.Uvarint(b[x.index+2:])
	if n <= 0 || b[x.index+1] != 2 {
		t.Fatalf("the index is % x", b[x.index:x.footer])
	}
	x.second = xzStreamHeader + int(unpadded+3)&^3
	return x
}

// seal writes the checksum of the bytes from start to end at end.
func (x *twoBlocks) seal(start, end int) {
	binary.LittleEndian.PutUint32(x.b[end:], crc32.ChecksumIEEE(x.b[start:end]))
}

// sealHeader does so with the header of the block at start.
func (x *twoBlocks) sealHeader(start int) { x.seal(start, start+int(x.b[start])*4) }

// sealFooter does so with the footer, which has its checksum in front.
func (x *twoBlocks) sealFooter() {
	binary.LittleEndian.PutUint32(x.b[x.footer:], crc32.ChecksumIEEE(x.b[x.footer+4:x.footer+10]))
}

// TestXzDamage: a fault in a part of the file is found although each part is decompressed by itself, and its checksum
// fits.
func TestXzDamage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(x *twoBlocks)
	}{
		{"unknown flag of a stream", func(x *twoBlocks) { x.b[6] = 1; x.seal(6, 8) }},
		{"a check for later", func(x *twoBlocks) { x.b[7] = 2; x.seal(6, 8) }},
		{"another check", func(x *twoBlocks) { x.b[7] = 1; x.seal(6, 8) }},
		{"stream header damaged", func(x *twoBlocks) { x.b[9]++ }},
		{"first block's header damaged", func(x *twoBlocks) { x.b[xzStreamHeader+5]++ }},
		{"second block's header damaged", func(x *twoBlocks) { x.b[x.second+5]++ }},
		{"unknown flag of a block", func(x *twoBlocks) { x.b[x.second+1] |= 4; x.sealHeader(x.second) }},
		{"another packed size", func(x *twoBlocks) { x.b[x.second+2] ^= 1; x.sealHeader(x.second) }},
		{"header padding", func(x *twoBlocks) { x.b[x.second+int(x.b[x.second])*4-1] = 1; x.sealHeader(x.second) }},
		{"first block's data damaged", func(x *twoBlocks) { x.b[x.second/2] ^= 1 }},
		{"second block's data damaged", func(x *twoBlocks) { x.b[(x.second+x.index)/2] ^= 1 }},
		{"first block's check damaged", func(x *twoBlocks) { x.b[x.second-1] ^= 1 }},
		{"second block's check damaged", func(x *twoBlocks) { x.b[x.index-1] ^= 1 }},
		{"blocks exchanged, index as it was", func(x *twoBlocks) {
			x.b = slices.Concat(x.b[:xzStreamHeader], x.b[x.second:x.index], x.b[xzStreamHeader:x.second], x.b[x.index:])
		}},
		{"a block lost", func(x *twoBlocks) { x.b = slices.Delete(x.b, xzStreamHeader, x.second) }},
		{"a block twice", func(x *twoBlocks) { x.b = slices.Insert(x.b, x.second, x.b[xzStreamHeader:x.second]...) }},
		{"another number of blocks", func(x *twoBlocks) { x.b[x.index+1] = 3; x.seal(x.index, x.footer-4) }},
		{"another size in the index", func(x *twoBlocks) { x.b[x.index+2] ^= 1; x.seal(x.index, x.footer-4) }},
		{"index damaged", func(x *twoBlocks) { x.b[x.footer-1] ^= 1 }},
		{"another size of the index", func(x *twoBlocks) { x.b[x.footer+4]++; x.sealFooter() }},
		{"another check in the footer", func(x *twoBlocks) { x.b[x.footer+9] = 1; x.sealFooter() }},
		{"unknown flag in the footer", func(x *twoBlocks) { x.b[x.footer+8] = 1; x.sealFooter() }},
		{"footer damaged", func(x *twoBlocks) { x.b[x.footer] ^= 1 }},
		{"no end", func(x *twoBlocks) { x.b[len(x.b)-1]++ }},
		{"padding of three bytes", func(x *twoBlocks) { x.b = append(x.b, 0, 0, 0) }},
		{"garbage behind", func(x *twoBlocks) { x.b = append(x.b, "garbage"...) }},
		{"a stream begun behind", func(x *twoBlocks) { x.b = append(x.b, x.b[:xzStreamHeader]...) }},
		{"cut amid the first block", func(x *twoBlocks) { x.b = x.b[:x.second-100] }},
		{"cut between blocks", func(x *twoBlocks) { x.b = x.b[:x.second] }},
		{"cut amid the second block", func(x *twoBlocks) { x.b = x.b[:x.index-100] }},
		{"cut before the index", func(x *twoBlocks) { x.b = x.b[:x.index] }},
		{"cut amid the index", func(x *twoBlocks) { x.b = x.b[:x.index+5] }},
		{"cut before the footer", func(x *twoBlocks) { x.b = x.b[:x.footer] }},
		{"cut by a byte", func(x *twoBlocks) { x.b = x.b[:len(x.b)-1] }},
	}
	sound := newTwoBlocks(t)
	if _, err := unxz(sound.b, 2<<20, 2, packedChunks); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := *sound
			x.b = bytes.Clone(sound.b)
			tt.do(&x)
			if _, err := unxzByLibrary(x.b); err == nil {
				t.Error("the decompressor alone finds nothing wrong")
			}
			dst := newMemTarget(4<<20, 512)
			_, err := Write(context.Background(), memSource{b: x.b}, dst, Options{})
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "xz stream is damaged after") {
				t.Errorf("error is %v", err)
			}
			if !bytes.Equal(dst.b[:heldBack], make([]byte, heldBack)) {
				t.Error("the disk's start is not zeroes")
			}
		})
	}
}

// TestXzEveryByte: no byte of a file can be another without being noticed, or
// the decompressor alone would not notice either.
func TestXzEveryByte(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte("letters of "), 200)
	image := xzOf(t, raw, "-T2", "--block-size=1KiB", "--check=sha256")
	for i := range image {
		for _, flip := range []byte{1, 0x80} {
			b := bytes.Clone(image)
			b[i] ^= flip
			sameAsLibrary(t, b)
		}
	}
}

// sameAsLibrary writes a small file by two decoders: they accept the same input as the decompressor alone, with the
// same bytes, and refuse the same.
func sameAsLibrary(t *testing.T, image []byte) {
	t.Helper()
	want, wantErr := unxzByLibrary(image)
	got, err := unxz(image, fuzzDisk, 2, packedChunks)
	if errors.Is(err, ErrTooSmall) && (wantErr != nil || len(want) > fuzzDisk) {
		return // the disk's end comes before the fault
	}
	if inner, wrong := Detect(want); wantErr == nil && (wrong != nil || inner != Raw) {
		return // refused because of its contents
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error is %v, the decompressor's %v", err, wantErr)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("got %d bytes, other than the decompressor's %d", len(got), len(want))
	}
}

// FuzzXz compares with the decompressor alone.
func FuzzXz(f *testing.F) {
	raw := pattern(20<<10, 62)
	f.Add(xzOf(f, raw))
	f.Add(xzOf(f, raw, "-T2", "--block-size=8KiB"))
	f.Add(xzOf(f, raw, "-T1", "--block-size=5000", "--check=sha256"))
	f.Add(xzOf(f, raw, "-T2", "--x86", "--delta", "--lzma2=dict=4KiB", "--check=crc32"))
	f.Add(slices.Concat(xzOf(f, raw[:600]), make([]byte, 8), xzOf(f, raw[600:], "--check=none"), make([]byte, 4)))
	f.Add(xzOf(f, nil))
	f.Add(xzOf(f, make([]byte, fuzzDisk*4)))
	f.Fuzz(sameAsLibrary)
}

// TestSpread: for any need of a run and any number of CPUs, there is memory for all that are under way, and a chunk of
// output more than they hold.
func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		need     int64
		cpus     int
		decoders int
		packed   int
	}{
		{streamLeast, 1, 1, packedChunks},
		{streamLeast, 2, 2, packedChunks + 8},
		{streamLeast, 64, 4, packedChunks + 24},
		{2 * streamLeast, 64, 2, packedChunks + 16},
		{4 * streamLeast, 64, 1, packedChunks},
		{largestNeed, 64, 1, packedChunks},
	} {
		if decoders, packed := spread(tt.need, tt.cpus); decoders != tt.decoders || packed != tt.packed {
			t.Errorf("%d MiB, %d CPUs: %d decoders, %d chunks, expected %d and %d", tt.need>>20, tt.cpus, decoders, packed,
				tt.decoders, tt.packed)
		}
	}
	for need := int64(streamLeast); need <= largestNeed; need += chunkSize {
		for cpus := 1; cpus <= 64; cpus++ {
			decoders, packed := spread(need, cpus)
			fixed := int64(decoders)*need + int64(packed)*chunkSize
			_, chunks := share(fixed, 0, cpus)
			if fixed+int64(chunks)*chunkSize > budget || chunks <= decoders {
				t.Errorf("%d MiB, %d CPUs: %d decoders, %d and %d chunks", need>>20, cpus, decoders, packed, chunks)
			}
		}
	}
}
