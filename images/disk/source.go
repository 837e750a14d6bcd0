package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Source provides an image's bytes. A write calls Name, Size and Head first, then Body once, and reads it to its end
// from one goroutine. Retries are the source's own: an error of Body or of a read ends the write.
type Source interface {
	// Name says where, for errors.
	Name() string
	// Size is the number of bytes, -1 when unknown.
	Size() int64
	// Head is the image's first bytes, 4 KiB or all there are.
	Head() []byte
	// Body starts reading at the first byte. It is called once per write.
	Body(ctx context.Context) (io.ReadCloser, error)
}

// RangeReader is a Source that can also be read out of order, which qcow2
// needs for its tables.
type RangeReader interface {
	// ReadRange fills p from offset off; off+len(p) must not exceed Size. It
	// answers ErrNoRange when the source cannot do that.
	ReadRange(ctx context.Context, p []byte, off int64) error
}

// SizeHint is the size of the disk an image describes, as far as its first bytes say; 0 when
// only writing it will. Nothing else of the image is checked.
func SizeHint(src Source) int64 {
	head := src.Head()
	format, err := Detect(head)
	switch {
	case err == nil && format == Raw && src.Size() > 0:
		return src.Size()
	case err == nil && format == QCOW2 && len(head) >= qcow2SizeAt+8:
		return int64(min(binary.BigEndian.Uint64(head[qcow2SizeAt:]), math.MaxInt64))
	}
	return 0
}

// ErrSource is wrapped when the bytes could not be had or changed on the way:
// the image itself may be fine.
var ErrSource = errors.New("image source")

// ErrNoRange says that a source is readable only from start to end.
var ErrNoRange = errors.New("source cannot be read by range")

// CutShortError says that a body ended before its announced size.
type CutShortError struct {
	Want, Got int64 // bytes
}

// Unwrap makes errors.Is(err, ErrSource) true.
func (e *CutShortError) Unwrap() error { return ErrSource }

// Error gives both figures.
func (e *CutShortError) Error() string {
	return fmt.Sprintf("cut short: expected %d bytes, got %d", e.Want, e.Got)
}
