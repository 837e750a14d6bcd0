package disk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func sumOf(b []byte) Checksum {
	s := sha256.Sum256(b)
	return Checksum{SHA256, hex.EncodeToString(s[:])}
}

func gz(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zst(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// wideZst is a zst frame of one raw block with a window of 256 MiB.
func wideZst() []byte { return []byte("\x28\xb5\x2f\xfd\x00\x90\x21\x00\x00data") }

// xzOf compresses with xz itself.
func xzOf(t testing.TB, b []byte, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("xz", append([]string{"-1", "-c"}, args...)...)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(b), &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("xz %v: %v (Debian's xz-utils is needed for these tests)", args, err)
	}
	return out.Bytes()
}

func TestWriteFormats(t *testing.T) {
	t.Parallel()
	raw := pattern(5<<20+512, 1)
	odd := pattern(1<<20+1234*512, 2)
	tests := []struct {
		name  string
		raw   []byte
		image []byte
		hint  string
	}{
		{"raw", raw, raw, "raw"},
		{"raw smaller than the held back start", raw[:40<<10], raw[:40<<10], ""},
		{"raw zero", make([]byte, 5<<20), make([]byte, 5<<20), ""},
		{"gz", raw, gz(t, raw), "raw"},
		{"gz of two members", raw, append(gz(t, raw[:2<<20]), gz(t, raw[2<<20:])...), ""},
		{"gz padded with zeroes", raw, append(gz(t, raw), make([]byte, 3<<20)...), ""},
		{"gz with garbage after it", raw, append(gz(t, raw), "garbage"...), ""},
		{"gz with zeroes and garbage after it", raw, append(gz(t, raw), append(make([]byte, 100), gz(t, raw)...)...), ""},
		{"gz with half of a magic after it", raw, append(gz(t, raw), "\x1f this is no header"...), ""},
		{"zst", raw, zst(t, raw), ""},
		{"zst of two frames", raw, append(zst(t, raw[:2<<20]), zst(t, raw[2<<20:])...), ""},
		{"zst with a frame to skip", raw, slices.Concat([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"), zst(t, raw)), ""},
		{"xz", raw, xzOf(t, raw), "raw"},
		{"xz -9", raw, xzOf(t, raw, "-9"), "xz"},
		{"xz of many blocks", raw, xzOf(t, raw, "-T2", "--block-size=1MiB"), ""},
		{"xz of two streams and padding", raw, slices.Concat(xzOf(t, raw[:2<<20]), make([]byte, 8),
			xzOf(t, raw[2<<20:], "-C", "sha256")), ""},
		{"xz filtered, unchecked", raw, xzOf(t, raw, "--x86", "--lzma2=preset=1", "-C", "none"), ""},
		{"qcow2 v3", raw, convert(t, raw, "-O", "qcow2"), "qcow2"},
		{"qcow2 v2", raw, convert(t, raw, "-O", "qcow2", "-o", "compat=0.10"), "qcow2"},
		{"qcow2 zlib", raw, convert(t, raw, "-c", "-O", "qcow2"), ""},
		{"qcow2 v2 zlib", raw, convert(t, raw, "-c", "-O", "qcow2", "-o", "compat=0.10"), ""},
		{"qcow2 zstd", raw, convert(t, raw, "-c", "-O", "qcow2", "-o", "compression_type=zstd"), ""},
		{"qcow2 odd size", odd, convert(t, odd, "-O", "qcow2"), ""},
		{"qcow2 odd size zlib", odd, convert(t, odd, "-c", "-O", "qcow2"), ""},
		{"qcow2 512 byte clusters", odd, convert(t, odd, "-O", "qcow2", "-o", "cluster_size=512"), ""},
		{"qcow2 512 byte clusters zlib", odd, convert(t, odd, "-c", "-O", "qcow2", "-o", "cluster_size=512"), ""},
		{"qcow2 4K clusters zstd", odd, convert(t, odd, "-c", "-O", "qcow2", "-o", "cluster_size=4K,compression_type=zstd"),
			""},
		{"qcow2 2M clusters", raw, convert(t, raw, "-O", "qcow2", "-o", "cluster_size=2M"), ""},
		{"qcow2 2M clusters zlib", raw, convert(t, raw, "-c", "-O", "qcow2", "-o", "cluster_size=2M"), ""},
		{"qcow2 2M clusters zstd", raw, convert(t, raw, "-c", "-O", "qcow2", "-o", "cluster_size=2M,compression_type=zstd"),
			""},
		{"qcow2 extended L2", odd, convert(t, odd, "-O", "qcow2", "-o", "extended_l2=on,cluster_size=128k"), ""},
		{"qcow2 extended L2 zlib", odd, convert(t, odd, "-c", "-O", "qcow2", "-o", "extended_l2=on,cluster_size=128k"), ""},
		{"qcow2 preallocated", odd, convert(t, odd, "-O", "qcow2", "-o", "preallocation=full"), ""},
		{"qcow2 data written as zeroes", odd, convert(t, odd, "-O", "qcow2", "-S", "0"), ""},
		{"qcow2 out of order", odd, convert(t, odd, "-W", "-m", "16", "-O", "qcow2"), ""},
	}
	for _, tt := range tests {
		for _, sector := range []int{512, 4096} {
			t.Run(fmt.Sprintf("%s onto %d", tt.name, sector), func(t *testing.T) {
				if sector == 4096 && strings.Contains(tt.name, "512 byte clusters") {
					t.Log("clusters smaller than sectors: TestRefusals has it")
					return
				}
				dst := newMemTarget((int64(len(tt.raw))+4095)/4096*4096+1<<20, sector)
				var last Progress
				starts := 0
				res, err := Write(context.Background(), memSource{b: tt.image}, dst, Options{
					Format: tt.hint, Checksum: sumOf(tt.image), Start: func(first []byte) error {
						starts++
						sameDisk(t, first, tt.raw[:heldBack])
						return nil
					},
					Progress: func(p Progress) { last = p }, ProgressEvery: time.Millisecond,
				})
				if err != nil {
					t.Fatal(err)
				}
				sameDisk(t, dst.b[:len(tt.raw)], tt.raw)
				if want := min(len(tt.raw)/heldBack, 1); starts != want {
					t.Errorf("the start was seen %d times, expected %d", starts, want)
				}
				if res.VirtualSize != int64(len(tt.raw)) || res.BytesRead != int64(len(tt.image)) {
					t.Errorf("result %+v, image %d, disk %d", res, len(tt.image), len(tt.raw))
				}
				if done := res.Written + res.Zeroed; done < res.VirtualSize || done >= res.VirtualSize+int64(sector) {
					t.Errorf("written %d + zeroed %d, expected %d", res.Written, res.Zeroed, res.VirtualSize)
				}
				if last.Done != res.Written+res.Zeroed || last.Read != res.BytesRead || last.Download != int64(len(tt.image)) {
					t.Errorf("last progress is %+v", last)
				}
				end := (len(tt.raw) + 4095) / 4096 * 4096
				if !bytes.Equal(dst.b[max(end, heldBack):], bytes.Repeat([]byte{0xda}, len(dst.b)-max(end, heldBack))) {
					t.Error("bytes after the image were touched")
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	raw := pattern(2<<20, 4)
	q := convert(t, raw, "-O", "qcow2")
	small := convert(t, raw, "-O", "qcow2", "-o", "cluster_size=512")
	dir := t.TempDir()
	base := filepath.Join(dir, "secret-base.raw")
	if err := os.WriteFile(base, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	made := func(name string, args ...string) []byte {
		t.Helper()
		p := filepath.Join(dir, name)
		qemuImg(t, append(append([]string{"create", "-q", "-f", "qcow2"}, args...), p, "2M")...)
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	encrypted := bytes.Clone(q)
	encrypted[35] = 2 // LUKS
	size := int64(2 << 20)
	tests := []struct {
		name   string
		src    Source
		size   int64
		sector int
		opts   Options
		want   error
		text   string
	}{
		{"backing file", memSource{b: made("b", "-b", base, "-F", "raw")}, size, 512, Options{}, ErrFormat,
			"secret-base.raw"},
		{"external data", memSource{b: made("d", "-o", "data_file="+filepath.Join(dir, "ext.raw"))}, size, 512, Options{},
			ErrFormat, "ext.raw"},
		{"subclusters smaller than sectors", memSource{b: made("e", "-o", "extended_l2=on")}, size, 4096, Options{},
			ErrFormat, "subclusters of 2048 bytes"},
		{"encrypted", memSource{b: encrypted}, size, 512, Options{}, ErrFormat, "encrypted"},
		{"no range", sequential{memSource{b: q}}, size, 512, Options{}, ErrNoRange, "Range"},
		{"qcow2 without size", memSource{b: q, unknown: true}, size, 512, Options{}, ErrNoRange, "size"},
		{"clusters smaller than sectors", memSource{b: small}, size, 4096, Options{}, ErrFormat,
			"smaller than the disk's sectors"},
		{"qcow2 too large", memSource{b: q}, size - 4096, 512, Options{}, ErrTooSmall,
			"disk has 2093056 bytes, image needs at least 2097152"},
		{"raw too large", memSource{b: raw}, size - 4096, 512, Options{}, ErrTooSmall, "image needs at least 2097152"},
		{"zst too large", memSource{b: zst(t, raw)}, size - 4096, 512, Options{}, ErrTooSmall, "at least 2097152"},
		{"hint raw, is qcow2", memSource{b: q}, size, 512, Options{Format: "raw"}, ErrFormat, "disk_format says raw"},
		{"hint qcow2, is raw", memSource{b: raw}, size, 512, Options{Format: "qcow2"}, ErrFormat, "disk_format says qcow2"},
		{"hint vmdk", memSource{b: raw}, size, 512, Options{Format: "vmdk"}, ErrFormat, "vmdk"},
		{"parallels", memSource{b: convert(t, raw, "-O", "parallels")}, size, 512, Options{}, ErrFormat, "it is parallels"},
		{"bzip2", memSource{b: append([]byte("BZh9"), raw...)}, size, 512, Options{}, ErrFormat, "it is bzip2"},
		{"xz too large", memSource{b: xzOf(t, raw, "-T2")}, size - 4096, 512, Options{}, ErrTooSmall, "at least 2097152"},
		{"xz with a large dictionary", memSource{b: xzOf(t, raw, "--lzma2=dict=96MiB")}, size, 512, Options{}, ErrFormat,
			"dictionary of 96 MiB, expected at most 64"},
		{"zst with a large window", memSource{b: wideZst()}, size, 512, Options{}, ErrFormat,
			"window of 256 MiB, expected at most 64; compress it again with zstd --long=26"},
		{"zst with a large window behind a skippable frame",
			memSource{b: append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00size"), wideZst()...)}, size, 512, Options{},
			ErrFormat, "window of 256 MiB"},
		{"empty", memSource{}, size, 512, Options{}, ErrFormat, "empty"},
		{"md5", memSource{b: raw}, size, 512, Options{Checksum: Checksum{MD5, strings.Repeat("0", 32)}}, ErrChecksum,
			"md5 is not allowed"},
		{"bad sum", memSource{b: raw}, size, 512, Options{Checksum: Checksum{SHA256, "1234"}}, ErrChecksum, "64 hex digits"},
		{"cut qcow2", memSource{b: q[:len(q)-70000]}, size, 512, Options{}, ErrFormat, "outside the file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst := newMemTarget(tt.size, tt.sector)
			_, err := Write(context.Background(), tt.src, dst, tt.opts)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %q with %q", err, tt.want, tt.text)
			}
			if dst.writes+dst.zeroes != 0 {
				t.Errorf("the disk was touched: %d writes, %d zeroes", dst.writes, dst.zeroes)
			}
		})
	}
}

// TestFailuresLeaveNothingBootable covers faults that show only during the write: the disk's start must then be
// zeroes.
func TestFailuresLeaveNothingBootable(t *testing.T) {
	t.Parallel()
	raw := pattern(6<<20, 5)
	q := convert(t, raw, "-c", "-O", "qcow2")
	// After header, refcounts, L1 and L2 at 64 KiB each come the clusters.
	damaged := convert(t, bytes.Repeat([]byte("text"), 1<<18), "-c", "-O", "qcow2")
	for i := 5 << 16; i < len(damaged); i++ {
		damaged[i] = 0xff
	}
	wrong := sumOf([]byte("another image"))
	tests := []struct {
		name   string
		src    Source
		size   int64
		opts   Options
		failAt int64
		want   error
		text   string
	}{
		{"wrong checksum", memSource{b: raw}, 6 << 20, Options{Checksum: wrong}, -1, ErrChecksum,
			"expected " + wrong.Sum + ", found " + sumOf(raw).Sum},
		{"gz too large", memSource{b: gz(t, raw)}, 4 << 20, Options{}, -1, ErrTooSmall, "disk has 4194304 bytes"},
		{"raw of unknown size too large", memSource{b: raw, unknown: true}, 4 << 20, Options{}, -1, ErrTooSmall,
			"disk has 4194304 bytes"},
		{"gz cut", memSource{b: gz(t, raw)[:100000]}, 6 << 20, Options{}, -1, ErrFormat, "gz stream is damaged"},
		{"zst cut", memSource{b: zst(t, raw)[:100000]}, 6 << 20, Options{}, -1, ErrFormat, "zst stream is damaged"},
		{"xz cut", memSource{b: xzOf(t, raw)[:100000]}, 6 << 20, Options{}, -1, ErrFormat, "xz stream is damaged"},
		{"xz with a wrong check", memSource{b: flipped(xzOf(t, raw), 40)}, 6 << 20, Options{}, -1, ErrFormat,
			"xz stream is damaged"},
		{"xz whose second stream takes more memory", memSource{b: append(xzOf(t, raw),
			xzOf(t, raw, "--lzma2=dict=96MiB")...)}, 12 << 20, Options{}, -1, ErrFormat, "more memory"},
		{"zst whose second frame takes more memory", memSource{b: append(zst(t, raw), wideZst()...)}, 12 << 20, Options{},
			-1, ErrFormat, "more memory"},
		{"xz too large", memSource{b: xzOf(t, raw)}, 4 << 20, Options{}, -1, ErrTooSmall, "disk has 4194304 bytes"},
		{"qcow2 inside xz", memSource{b: xzOf(t, q)}, 6 << 20, Options{}, -1, ErrFormat, "inside the compressed stream"},
		{"qcow2 inside zst", memSource{b: zst(t, q)}, 6 << 20, Options{}, -1, ErrFormat,
			"it is qcow2, expected a raw image; unpack it"},
		{"gz with garbage after it", memSource{b: append(gz(t, raw), "garbage"...)}, 6 << 20, Options{}, -1,
			ErrFormat, "other bytes follow its gz stream"},
		{"qcow2 inside gz", memSource{b: gz(t, q)}, 6 << 20, Options{}, -1, ErrFormat, "inside the compressed stream"},
		{"damaged cluster", memSource{b: damaged}, 6 << 20, Options{}, -1, ErrFormat, "does not decompress"},
		{"medium error", memSource{b: pattern(6<<20, 6)}, 6 << 20, Options{}, 6<<20 - 1, nil, "write"},
		{"shorter than announced", short{memSource{b: raw}}, 8 << 20, Options{}, -1, ErrSource,
			"cut short: expected 7340032 bytes, got 6291456"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst := newMemTarget(tt.size, 512)
			dst.failAt = tt.failAt
			if tt.failAt >= 0 {
				copy(tt.src.(memSource).b[tt.failAt-10:], "not zeroes")
			}
			_, err := Write(context.Background(), tt.src, dst, tt.opts)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %v with %q", err, tt.want, tt.text)
			}
			if !bytes.Equal(dst.b[:heldBack], make([]byte, heldBack)) {
				t.Error("the disk's start is not zeroes")
			}
		})
	}
}

// TestZstOnAnyMachine: one goroutine decodes where there are two CPUs, several
// where there are more, and both say the same of an image.
func TestZstOnAnyMachine(t *testing.T) {
	raw := pattern(3<<20, 41)
	whole := zst(t, raw)
	tests := []struct {
		name  string
		image []byte
		text  string // of the error; empty: it is the raw image
	}{
		{"whole", whole, ""},
		{"two frames", append(zst(t, raw[:4096]), zst(t, raw[4096:])...), ""},
		{"cut", whole[:len(whole)/2], "zst stream is damaged after"},
		{"with a wrong check", flipped(slices.Clone(whole), 1), "zst stream is damaged after"},
		{"followed by a wide window", append(slices.Clone(whole), wideZst()...),
			"takes more memory after 3145728 bytes of disk than at its start, which had 8 MiB reserved"},
	}
	for _, tt := range tests {
		for _, cpus := range []int{1, 2, 4, 64} {
			s := stream{format: Zstd, memory: streamLeast, cpus: cpus}
			d, closeIt, err := s.open(bytes.NewReader(tt.image))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(d)
			closeIt()
			switch {
			case tt.text == "" && (err != nil || !bytes.Equal(got, raw)):
				t.Errorf("%s, %d CPUs: %d bytes, %v", tt.name, cpus, len(got), err)
			case tt.text != "" && (err == nil || !strings.Contains(s.broken(int64(len(got)), err).Error(), tt.text)):
				t.Errorf("%s, %d CPUs: error is %v, expected %q", tt.name, cpus, s.broken(int64(len(got)), err), tt.text)
			}
		}
	}
}

// flipped changes the byte at index i from the end.
func flipped(b []byte, i int) []byte {
	b[len(b)-i] ^= 1
	return b
}

// short announces a MiB more than it has.
type short struct{ memSource }

func (s short) Size() int64 { return s.memSource.Size() + 1<<20 }

func TestWriteCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Write(ctx, memSource{b: pattern(64<<20, 7)}, cancelling{newMemTarget(64<<20, 512), cancel}, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, expected %v", err, context.Canceled)
	}
}

// cancelling ends the context of its writer once bytes arrive.
type cancelling struct {
	*memTarget
	cancel context.CancelFunc
}

func (c cancelling) WriteAt(p []byte, off int64) (int, error) {
	c.cancel()
	return c.memTarget.WriteAt(p, off)
}

// TestTableChanged: the map was made of other tables than the body brings.
func TestTableChanged(t *testing.T) {
	q := convert(t, pattern(2<<20, 8), "-O", "qcow2")
	h, err := parseQcow2Header(q)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(q)
	changed[h.l1Offset+7] ^= 1
	_, err = Write(context.Background(), swapped{memSource{b: q}, memSource{b: changed}},
		newMemTarget(2<<20, 512), Options{})
	if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("error is %v", err)
	}
}

// swapped gives another body than its ranges.
type swapped struct {
	memSource
	body memSource
}

func (s swapped) Body(ctx context.Context) (io.ReadCloser, error) { return s.body.Body(ctx) }
