package ramdisk

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Compression is the format of an initramfs. The kernel recognises it by itself.
type Compression string

// The kinds Debian's kernels unpack. Zstd boots fastest when the download counts
// (measured against lz4, gzip, xz and none).
const (
	Zstd         Compression = "zstd"
	Gzip         Compression = "gzip"
	Uncompressed Compression = "none"
)

// zstdWindow is as large as the kernel unpacks without trouble in small memory, and
// larger than the gain from more.
const zstdWindow = 8 << 20

// compressTo lets write fill w through the compressor. One worker: the bytes must not
// depend on the number of processors.
func compressTo(w io.Writer, kind Compression, write func(io.Writer) error) error {
	var packer io.WriteCloser
	var err error
	switch kind {
	case Zstd, "":
		packer, err = zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
	case Gzip:
		packer, err = gzip.NewWriterLevel(w, gzip.BestCompression)
	case Uncompressed:
		return write(w)
	default:
		return fmt.Errorf("compression %q: expected %s, %s or %s", kind, Zstd, Gzip, Uncompressed)
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", kind, err)
	}
	return errors.Join(write(packer), packer.Close())
}
