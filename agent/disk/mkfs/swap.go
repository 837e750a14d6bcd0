package mkfs

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// makeSwap writes the header of swap space, version 1: union swap_header in
// the kernel's include/linux/swap.h, in the machine's own byte order. Its page
// is the running kernel's, as with mkswap.
func makeSwap(p Partition, label string, random io.Reader) error {
	const magic, labelSize = "SWAPSPACE2", 16
	page := int64(os.Getpagesize())
	if pages := p.Size() / page; pages < 10 {
		return fmt.Errorf("%d bytes are too few for swap space, expected at least %d", p.Size(), 10*page)
	}
	if err := labelFits(label, labelSize); err != nil {
		return err
	}
	id, err := newID(random)
	if err != nil {
		return err
	}
	ne := binary.NativeEndian
	b := make([]byte, page)
	ne.PutUint32(b[1024:], 1)
	ne.PutUint32(b[1028:], uint32(min(p.Size()/page-1, 1<<32-1)))
	copy(b[1036:], id[:])
	copy(b[1052:], label)
	copy(b[page-int64(len(magic)):], magic)
	return writeAt(p, b, 0)
}
