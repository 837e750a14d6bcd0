package disk

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/therootcompany/xz"
)

// fuzzDisk is the size of the disk fuzzed images are written onto.
const fuzzDisk = 128 << 10

// fuzzWrite writes an image onto a small disk: it may fail, but not hang,
// panic, or leave a bootable start behind a failure.
func fuzzWrite(t *testing.T, image []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	dst := newMemTarget(fuzzDisk, 512)
	res, err := Write(ctx, memSource{b: image}, dst, Options{})
	if ctx.Err() != nil {
		t.Fatalf("no end: %v", err)
	}
	if err != nil && dst.writes+dst.zeroes > 0 && !bytes.Equal(dst.b[:heldBack], make([]byte, heldBack)) {
		t.Fatalf("start is not zeroes after %v", err)
	}
	if err == nil && (res.VirtualSize > fuzzDisk || res.BytesRead != int64(len(image))) {
		t.Fatalf("result %+v of %d bytes", res, len(image))
	}
}

func FuzzQcow2(f *testing.F) {
	raw := pattern(16<<10, 20)
	for _, o := range []string{"cluster_size=512", "cluster_size=512,compat=0.10",
		"cluster_size=512,compression_type=zstd", "cluster_size=4k"} {
		f.Add(convert(f, raw, "-O", "qcow2", "-o", o))
		if o != "cluster_size=512,compat=0.10" {
			f.Add(convert(f, raw, "-c", "-O", "qcow2", "-o", o))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzWrite(t, append([]byte("QFI\xfb"), b[min(4, len(b)):]...))
	})
}

// FuzzQcow2Entry puts an L1 and an L2 entry of the fuzzer's into a sound image.
func FuzzQcow2Entry(f *testing.F) {
	image := convert(f, pattern(16<<10, 21), "-O", "qcow2", "-o", "cluster_size=512")
	h, err := parseQcow2Header(image)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(0), uint64(0), uint64(1))
	f.Add(uint16(3), uint64(1<<63|0x1000), uint64(1<<62|0x1403))
	f.Fuzz(func(t *testing.T, n uint16, l1, l2 uint64) {
		b := bytes.Clone(image)
		be := binary.BigEndian
		table := int64(be.Uint64(b[h.l1Offset:]) & entryOffset)
		be.PutUint64(b[table+int64(n%64)*8:], l2)
		if l1 != 0 {
			be.PutUint64(b[h.l1Offset:], l1)
		}
		fuzzWrite(t, b)
	})
}

// FuzzQcow2Subclusters puts an extended L2 entry of the fuzzer's into a sound
// image.
func FuzzQcow2Subclusters(f *testing.F) {
	image := convert(f, pattern(64<<10, 23), "-O", "qcow2", "-o", "cluster_size=16k,extended_l2=on")
	h, err := parseQcow2Header(image)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(0), uint64(1<<63|0x14000), uint64(0xff00ff))
	f.Add(uint8(3), uint64(1<<62|0x14003), uint64(0))
	f.Fuzz(func(t *testing.T, n uint8, entry, bitmaps uint64) {
		b := bytes.Clone(image)
		be := binary.BigEndian
		at := int64(be.Uint64(b[h.l1Offset:])&entryOffset) + int64(n%4)*16
		be.PutUint64(b[at:], entry)
		be.PutUint64(b[at+8:], bitmaps)
		fuzzWrite(t, b)
	})
}

// FuzzDeflate compares with the standard library: both accept the same input with the same bytes, and refuse the same.
// Our decoder wants bits after the last byte it needs, as many as the code of a block's end has, hence the zeroes.
func FuzzDeflate(f *testing.F) {
	raw := pattern(40<<10, 24)
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		f.Add(deflated(f, raw, level), uint16(len(raw)))
	}
	f.Add([]byte{0x4b, 0x04, 0x00}, uint16(1)) // fixed codes
	f.Add([]byte{0x01, 0x01, 0x00, 0xfe, 0xff, 0x61}, uint16(1))
	f.Fuzz(func(t *testing.T, in []byte, n uint16) {
		want, padded, got := make([]byte, n), make([]byte, n), make([]byte, n)
		_, wantErr := io.ReadFull(flate.NewReader(bytes.NewReader(in)), want)
		_, paddedErr := io.ReadFull(flate.NewReader(bytes.NewReader(append(bytes.Clone(in), 0, 0))), padded)
		var d deflate
		err := d.inflate(got, in)
		switch {
		case err != nil && wantErr == nil, err == nil && paddedErr != nil:
			t.Fatalf("we: %v; the library: %v; with two more bytes: %v", err, wantErr, paddedErr)
		case err == nil && !bytes.Equal(got, padded):
			t.Fatal("other bytes than the library's")
		}
	})
}

// deflated is b as a raw deflate stream.
func deflated(t testing.TB, b []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func FuzzStream(f *testing.F) {
	raw := pattern(20<<10, 22)
	f.Add(gz(f, raw))
	f.Add(zst(f, raw))
	f.Add(xzOf(f, raw))
	f.Add(xzOf(f, raw, "-T2"))
	f.Add(gz(f, make([]byte, fuzzDisk*4))) // a small bomb
	f.Add(xzOf(f, make([]byte, fuzzDisk*4)))
	f.Add(zst(f, make([]byte, fuzzDisk*4)))
	f.Add([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd\x28\xb5\x2f\xfd\x00"))
	f.Fuzz(fuzzWrite)
}

// FuzzXzBlock compares our reading of an xz block's header with the decompressor's: a dictionary that passes here
// passes there.
func FuzzXzBlock(f *testing.F) {
	f.Add(xzOf(f, []byte("disk")))
	f.Add(xzOf(f, []byte("disk"), "-T2", "--x86", "--lzma2=dict=96MiB"))
	f.Fuzz(func(t *testing.T, head []byte) {
		dictionary, _ := xzBlock(head)
		d, err := xz.NewReader(bytes.NewReader(head), maxDictionary)
		if err != nil {
			return
		}
		_, err = d.Read(make([]byte, 1))
		if large := errors.Is(err, xz.ErrMemlimit); large && dictionary > 0 && dictionary <= maxDictionary {
			t.Fatalf("a dictionary of %d bytes is too large for the decompressor", dictionary)
		}
	})
}

func FuzzChecksumFile(f *testing.F) {
	f.Add([]byte(sumA+"  disk.raw\n"), "disk.raw")
	f.Add([]byte("SHA512 (disk.raw) = "+sumC), "disk.raw")
	f.Add([]byte("SHA2-256(disk.raw)= "+sumA), "disk.raw")
	f.Add([]byte("SHA256  "+sumA+`  C:\images\disk.raw`), "a/disk.raw")
	f.Add([]byte(utf16Text(binary.LittleEndian, sumA+"  12 a/disk.raw\n"+sumB+"  b/disk.raw")), "a/disk.raw")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		c, err := parseChecksumFile(text, name)
		if err != nil {
			return
		}
		if again, err := NewChecksum(string(c.Algorithm), c.Sum); err != nil || again != c {
			t.Fatalf("%v does not hold: %v %v", c, again, err)
		}
	})
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-4095/10000")
	f.Add("bytes 5-9/*")
	f.Fuzz(func(t *testing.T, v string) {
		from, size, err := contentRange(v)
		if err == nil && (from < 0 || size < -1) {
			t.Fatalf("%q: %d %d", v, from, size)
		}
	})
}
