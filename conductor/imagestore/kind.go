package imagestore

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

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

// HeadBytes is how much of an image KindOf needs: as compressed files go, enough to see an ISO inside.
const HeadBytes = 64 << 10

// compressions are the formats of package disk that are compressed.
var compressions = map[disk.Format]string{disk.Gzip: "gzip", disk.Zstd: "zstd", disk.XZ: "xz"}

// KindOf determines the kind of a file of size bytes (-1: unknown) by its first HeadBytes. It refuses files that
// machines do not boot and agents do not write.
func KindOf(first []byte, size int64) (Kind, error) {
	switch found := disk.Identify(first); found.Format {
	case "":
		return Kind{}, refused("", found)
	case disk.Gzip, disk.Zstd, disk.XZ:
		return insideOf(found.Format, unpacked(found.Format, first))
	case disk.QCOW2:
		return qcow2(first)
	case disk.Raw:
		return Kind{Format: "raw", DiskSize: max(size, 0)}, nil
	default:
		return Kind{Format: string(found.Format)}, nil
	}
}

// insideOf is the kind of a compressed file, by the beginning of its content; none: that cannot be seen.
func insideOf(packed disk.Format, begin []byte) (Kind, error) {
	inside := disk.Content{Format: disk.Raw}
	if len(begin) > 0 {
		inside = disk.Identify(begin)
	}
	switch inside.Format {
	case disk.Raw, disk.Ramdisk:
		return Kind{Format: string(inside.Format), Compression: compressions[packed]}, nil
	case "":
		return Kind{}, refused("inside "+compressions[packed]+" ", inside)
	default:
		inside.Remedy = "unpack it: only a raw image and a ramdisk may be compressed"
		return Kind{}, refused("inside "+compressions[packed]+" ", inside)
	}
}

func refused(where string, c disk.Content) error {
	return fmt.Errorf("%w: %sit is %s; %s", ErrUnknown, where, c.Name, c.Remedy)
}

// unpacking lets one look at a time have the memory of a window: many nodes are deployed at once.
var unpacking sync.Mutex

// unpacked is the beginning of a compressed file's content, as far as the first bytes decompress.
func unpacked(format disk.Format, first []byte) []byte {
	unpacking.Lock()
	defer unpacking.Unlock()
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
	begin := make([]byte, disk.ISOHead)
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
