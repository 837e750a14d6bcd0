package disk

import "errors"

// ErrLater is the error of bytes of a Beginning that have not come yet.
var ErrLater = errors.New("not known yet")

// Beginning is a disk while an image of size bytes (0: unknown) is written to it, of which
// only the first bytes have come. ReadTable finds the table that the disk will have, or
// ErrLater where other bytes decide about it: a backup GPT at the very end of an image as
// large as the disk, logical partitions of an MBR.
func Beginning(d Disk, first []byte, size int64) Disk {
	if size <= 0 { // an image of unknown size is hardly ever exactly as large as the disk
		size = d.Size() - int64(d.LogicalSectorSize())
	}
	return beginning{Disk: d, first: first, end: size}
}

// beginning reads as zeroes behind the image's end.
type beginning struct {
	Disk
	first []byte
	end   int64
}

// ReadAt reads known bytes.
func (b beginning) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case off+int64(len(p)) <= int64(len(b.first)):
		return copy(p, b.first[off:]), nil
	case off >= b.end:
		clear(p)
		return len(p), nil
	}
	return 0, ErrLater
}
