package imagestore

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
	xz "github.com/therootcompany/xz"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// Kind is the format of an image's bytes.
type Kind struct {
	Format      string // raw, qcow2, iso, kernel or ramdisk
	Compression string // gzip, zstd, xz, or "" for none
	DiskSize    int64  // bytes on a disk; 0 when not known
}

// ErrUnknown is wrapped by the error for bytes that no machine boots or gets written.
var ErrUnknown = errors.New("this is no image for machines")

// headBytes is how much is read of an image: the volume descriptor of an ISO is at 32 KiB (ECMA-119, 8.1).
const headBytes = 64 << 10

// magic is fixed bytes near the start of a file.
type magic struct {
	at   int
	text string
	kind string
}

// magics are looked for in order. Kernels: Documentation/arch/x86/boot.rst, arch/arm64/booting.rst; ramdisks:
// driver-api/early-userspace/buffer-format.rst. An ISO that is a disk as well (isohybrid) is an ISO.
var magics = []magic{
	{0x202, "HdrS", "kernel"},
	{0x38, "ARM\x64", "kernel"},
	{0, "070701", "ramdisk"},
	{0, "070702", "ramdisk"},
	{32769, "CD001", "iso"},
}

func match(first []byte) string {
	for _, m := range magics {
		if end := m.at + len(m.text); len(first) >= end && string(first[m.at:end]) == m.text {
			return m.kind
		}
	}
	return ""
}

// compressions are the formats of package disk that are compressed.
var compressions = map[disk.Format]string{disk.Gzip: "gzip", disk.Zstd: "zstd", disk.XZ: "xz"}

// kindOf determines the kind of a file of n bytes, by its content alone.
func kindOf(file io.ReaderAt, n int64) (Kind, error) {
	first, err := head(file, n)
	if err != nil {
		return Kind{}, err
	}
	if kind := match(first); kind != "" {
		return Kind{Format: kind}, nil
	}
	format, err := disk.Detect(first)
	if err != nil {
		return Kind{}, fmt.Errorf("%w: %s", ErrUnknown, strings.TrimPrefix(err.Error(), disk.ErrFormat.Error()+": "))
	}
	switch packed := compressions[format]; {
	case packed != "" && match(unpacked(format, first)) == "ramdisk":
		return Kind{Format: "ramdisk", Compression: packed}, nil
	case packed != "":
		return Kind{Format: "raw", Compression: packed}, nil
	case format == disk.QCOW2:
		return qcow2(first)
	}
	return Kind{Format: "raw", DiskSize: n}, nil
}

// unpacked is the beginning of a compressed file's content, as far as the first bytes decompress.
func unpacked(format disk.Format, first []byte) []byte {
	var from io.Reader
	switch format {
	case disk.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(first))
		if err != nil {
			return nil
		}
		from = r
	case disk.Zstd:
		r, err := zstd.NewReader(bytes.NewReader(first), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil
		}
		defer r.Close()
		from = r
	default:
		r, err := xz.NewReader(bytes.NewReader(first), maxWindow)
		if err != nil {
			return nil
		}
		from = r
	}
	begin := make([]byte, 512)
	n, _ := io.ReadFull(from, begin) // it is cut off on purpose
	return begin[:n]
}

// maxWindow bounds the memory for a look into a compressed file.
const maxWindow = 32 << 20

// qcow2 reads the header (QEMU, docs/interop/qcow2.rst). It refuses a header that names another file: no agent would
// open that file.
func qcow2(first []byte) (Kind, error) {
	const version, backing, size, features = 4, 8, 24, 72
	if len(first) < features {
		return Kind{}, fmt.Errorf("%w: its qcow2 header is cut short", ErrUnknown)
	}
	virtual := binary.BigEndian.Uint64(first[size:])
	switch {
	case binary.BigEndian.Uint64(first[backing:]) != 0:
		return Kind{}, fmt.Errorf("%w: it is a qcow2 with a backing file: make it whole with: qemu-img convert -O qcow2",
			ErrUnknown)
	case binary.BigEndian.Uint32(first[version:]) >= 3 && len(first) >= features+8 && first[features+7]&4 != 0:
		return Kind{}, fmt.Errorf("%w: it is a qcow2 whose data is in another file: make it whole with: qemu-img convert "+
			"-O qcow2", ErrUnknown)
	case virtual == 0 || virtual > math.MaxInt64:
		return Kind{}, fmt.Errorf("%w: its qcow2 header gives a disk of %d bytes: make the image again", ErrUnknown, virtual)
	}
	return Kind{Format: "qcow2", DiskSize: int64(virtual)}, nil //nolint:gosec // compared above
}
