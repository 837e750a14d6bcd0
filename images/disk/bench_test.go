package disk

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	kflate "github.com/klauspost/compress/flate"

	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

// benchmarkWrite streams an image of a disk of 64 MiB over loopback HTTP onto
// a file, hashing it: the figures are bytes of disk per second.
func benchmarkWrite(b *testing.B, make func(raw []byte) []byte) {
	raw := pattern(64<<20, 30)
	image := make(raw)
	url := serve(b, content(image))
	dst, err := disktest.CreateFileTarget(filepath.Join(b.TempDir(), "disk"), int64(len(raw)))
	if err != nil {
		b.Fatal(err)
	}
	defer dst.Close()
	noSync, sum := unsynced{dst}, sumOf(image)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		src, err := OpenHTTPSource(context.Background(), http.DefaultClient, url, HTTPOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Write(context.Background(), src, noSync, Options{Checksum: sum}); err != nil {
			b.Fatal(err)
		}
	}
}

// unsynced leaves the medium out of the figures.
type unsynced struct{ *disktest.FileTarget }

func (unsynced) Flush() error { return nil }

func BenchmarkWriteRaw(b *testing.B) {
	benchmarkWrite(b, func(raw []byte) []byte { return raw })
}

func BenchmarkWriteQcow2(b *testing.B) {
	benchmarkWrite(b, func(raw []byte) []byte { return convert(b, raw, "-O", "qcow2") })
}

func BenchmarkWriteQcow2Zlib(b *testing.B) {
	benchmarkWrite(b, func(raw []byte) []byte { return convert(b, raw, "-c", "-O", "qcow2") })
}

func BenchmarkWriteQcow2Zstd(b *testing.B) {
	benchmarkWrite(b, func(raw []byte) []byte {
		return convert(b, raw, "-c", "-O", "qcow2", "-o", "compression_type=zstd")
	})
}

func BenchmarkWriteZst(b *testing.B) {
	benchmarkWrite(b, func(raw []byte) []byte { return zst(b, raw) })
}

func BenchmarkWriteGz(b *testing.B) {
	benchmarkWrite(b, func(raw []byte) []byte { return gz(b, raw) })
}

// BenchmarkDeflate decompresses a cluster of text, by our own code and by the two
// libraries it is measured against.
func BenchmarkDeflate(b *testing.B) {
	var raw []byte
	for i := 0; len(raw) < 64<<10; i++ {
		raw = fmt.Appendf(raw, "%d: the disk of a machine holds letters, %x of them long\n", i, i*i*2654435761%65537)
	}
	in, out := deflated(b, raw, 6), make([]byte, len(raw))
	run := func(name string, inflate func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if err := inflate(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	var d deflate
	run("own", func() error { return d.inflate(out, in) })
	for name, r := range map[string]io.Reader{"standard": flate.NewReader(nil), "klauspost": kflate.NewReader(nil)} {
		run(name, func() error {
			err := r.(flate.Resetter).Reset(bytes.NewReader(in), nil)
			if err == nil {
				_, err = io.ReadFull(r, out)
			}
			return err
		})
	}
}
