package disk

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/therootcompany/xz"
)

// maxDictionary bounds the memory of an xz stream, bytes: what xz -9 takes.
const maxDictionary = 64 << 20

// newXz opens a stream of one or more xz streams.
func newXz(r io.Reader) (io.Reader, error) { return xz.NewReader(r, maxDictionary) }

// Parts of an xz file (the .xz file format 1.2.1, sections 2.1.1, 3.1 and 5.3.1).
const (
	xzStreamHeader     = 12 // bytes
	xzHasPacked        = 0x40
	xzHasUnpacked      = 0x80
	xzFilters          = 0x03 // one less than there are
	xzLZMA2            = 0x21
	xzLZMA2LargestSize = 40
)

// xzBlock reads the first block's header, as far as head has it: the
// dictionary it is decompressed with and its size when unpacked, in bytes, 0
// where it does not say. More blocks may follow. What is wrong in it is left to
// the decompressor to find.
func xzBlock(head []byte) (dictionary, unpacked uint64) {
	if len(head) < xzStreamHeader+2 || head[xzStreamHeader] == 0 { // 0: the index, no blocks
		return 0, 0
	}
	b := head[xzStreamHeader:]
	b = b[1:min((int(b[0])+1)*4, len(b))]
	flags := b[0]
	b = b[1:]
	if flags&xzHasPacked != 0 {
		_, b = xzInteger(b)
	}
	if flags&xzHasUnpacked != 0 {
		unpacked, b = xzInteger(b)
	}
	for range int(flags&xzFilters) + 1 {
		var id, n uint64
		id, b = xzInteger(b)
		n, b = xzInteger(b)
		if n > uint64(len(b)) {
			return 0, unpacked
		}
		if id == xzLZMA2 && n == 1 && b[0] <= xzLZMA2LargestSize {
			return uint64(2|b[0]&1) << (b[0]/2 + 11), unpacked
		}
		b = b[n:]
	}
	return 0, unpacked
}

// xzInteger reads a number of 7 bits a byte; 0 and nothing when there is none.
func xzInteger(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil
	}
	return v, b[n:]
}

// checkXz refuses what the first block says of itself: a dictionary that takes
// too much memory, or a disk larger than size.
func checkXz(head []byte, size int64) error {
	dictionary, unpacked := xzBlock(head)
	if dictionary > maxDictionary {
		return fmt.Errorf("%w: its xz stream needs a dictionary of %d MiB, expected at most %d; compress it with xz -9 or less",
			ErrFormat, dictionary>>20, maxDictionary>>20)
	}
	if unpacked > uint64(size) {
		return fmt.Errorf("%w: disk has %d bytes, image needs at least %d", ErrTooSmall, size, unpacked)
	}
	return nil
}
