package disk

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"

	"github.com/therootcompany/xz"
)

// xzSizes are an index's entry of a block (section 4.3), in bytes.
type xzSizes struct {
	unpadded uint64 // header, data and check as they are in the file
	unpacked uint64
}

// xzTally is a list of blocks of any length in little memory: two lists are
// the same when count and sum are.
type xzTally struct {
	count uint64
	sum   hash.Hash
}

// newXzTally is of no blocks.
func newXzTally() xzTally { return xzTally{sum: sha256.New()} }

// add adds a block.
func (t *xzTally) add(s xzSizes) {
	t.count++
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], s.unpadded)
	binary.LittleEndian.PutUint64(b[8:], s.unpacked)
	t.sum.Write(b[:])
}

// same compares two lists.
func (t *xzTally) same(o xzTally) bool {
	return t.count == o.count && string(t.sum.Sum(nil)) == string(o.sum.Sum(nil))
}

// xzEnd is the index and the footer of a stream of one block, so that the
// decompressor has a whole stream to hold the block against.
func xzEnd(check byte, s xzSizes) []byte {
	b := []byte{0, 1} // the mark of an index, one block
	b = binary.AppendUvarint(b, s.unpadded)
	b = binary.AppendUvarint(b, s.unpacked)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	footer := binary.LittleEndian.AppendUint32(nil, uint32(len(b)/4-1))
	footer = append(footer, 0, check)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(footer))
	return append(append(b, footer...), "YZ"...)
}

// xzIndex reads an index.
type xzIndex struct {
	in   *tap
	sum  uint32 // CRC-32 of the bytes read
	size int64  // of the bytes read
}

// byte reads a byte of the index.
func (x *xzIndex) byte() (byte, error) {
	b, err := x.in.byte()
	if err == nil {
		x.sum = crc32.Update(x.sum, crc32.IEEETable, []byte{b})
		x.size++
	}
	return b, err
}

// integer reads a number (section 1.2): of nine bytes at most, none of them needless.
func (x *xzIndex) integer() (v uint64, err error) {
	const most = 9
	for i := range most {
		b, err := x.byte()
		if err != nil {
			return 0, err
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 {
				break
			}
			return v, nil
		}
	}
	return 0, xz.ErrData
}

// check reads the index (section 4), from its mark on, and compares it with the preceding blocks.
func (x *xzIndex) check(blocks xzTally) error {
	if _, err := x.byte(); err != nil {
		return err
	}
	count, err := x.integer()
	if err != nil {
		return err
	}
	if count != blocks.count {
		return xz.ErrData
	}
	listed := newXzTally()
	for range count {
		var s xzSizes
		if s.unpadded, err = x.integer(); err != nil {
			return err
		}
		if s.unpacked, err = x.integer(); err != nil {
			return err
		}
		listed.add(s)
	}
	for x.size%4 != 0 {
		b, err := x.byte()
		if err != nil {
			return err
		}
		if b != 0 {
			return xz.ErrData
		}
	}
	var sum [4]byte
	if err := x.in.read(sum[:]); err != nil {
		return err
	}
	if !listed.same(blocks) || binary.LittleEndian.Uint32(sum[:]) != x.sum {
		return xz.ErrData
	}
	return nil
}

// footer reads a stream's last bytes (section 2.1.2), which repeat its kind of
// check and the size of its index.
func (x *xzIndex) footer(check byte) error {
	var b [12]byte
	if err := x.in.read(b[:]); err != nil {
		return err
	}
	switch {
	case string(b[10:]) != "YZ",
		crc32.ChecksumIEEE(b[4:10]) != binary.LittleEndian.Uint32(b[:]),
		int64(binary.LittleEndian.Uint32(b[4:])) != x.size/4, // with its CRC-32, and less one, as it is stored
		b[8] != 0, b[9] != check:
		return xz.ErrData
	}
	return nil
}
