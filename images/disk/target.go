package disk

import (
	"io"
)

// Target is the disk that an image is written to. Offsets and lengths given to it are multiples of the sector size.
// Several goroutines write and zero parts that do not overlap, in any order. Then come Flush, the first bytes, and
// Flush again. No call is repeated: an error ends the write.
type Target interface {
	io.WriterAt
	// Zero makes n bytes from off read as zeroes.
	Zero(off, n int64) error
	// Size is the capacity in bytes.
	Size() int64
	// LogicalSectorSize is the smallest unit that can be written: 512 or 4096.
	LogicalSectorSize() int
	// Flush returns when all that was written is on the medium.
	Flush() error
}

// WriteZeros writes n zero bytes at off, for targets that have no quicker way.
func WriteZeros(w io.WriterAt, off, n int64) error {
	zeros := AlignedBuffer(int(min(n, chunkSize)))
	for n > 0 {
		part := min(n, int64(len(zeros)))
		if _, err := w.WriteAt(zeros[:part], off); err != nil {
			return err
		}
		off, n = off+part, n-part
	}
	return nil
}
