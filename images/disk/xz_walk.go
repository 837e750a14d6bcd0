package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/therootcompany/xz"
)

// xzWalk walks through an xz file without decompressing it, and divides it into runs.
// The headers of LZMA2 say where a block ends and how much is in it, so that the sizes
// that xz -T writes into a block's header are not needed. A run is one block, or
// several if one ends amid a sector, each made a stream by itself. The decompressor
// then checks the block and the sizes found here. All bytes outside the blocks are
// checked here.
type xzWalk struct {
	in     tap
	sector int64 // of the disk, bytes
	size   int64 // of the disk, bytes
	pieces int   // of a run that may wait
	runs   chan<- *segment
	cur    *segment // that the next block belongs to; nil: to a new one
	off    int64    // on the disk, of the next bytes
	header []byte   // of the stream
}

// walk goes to the file's end: streams, each followed by padding (section 2).
func (w *xzWalk) walk() error {
	defer close(w.runs)
	for {
		if err := w.stream(); err != nil {
			return err
		}
		more, err := w.padding()
		if err != nil {
			return err
		}
		if !more {
			w.endRun()
			return nil
		}
	}
}

// stream goes through a stream: header, blocks, index, footer (section 2.1).
func (w *xzWalk) stream() error {
	if err := w.streamHeader(); err != nil {
		return err
	}
	blocks := newXzTally()
	for {
		if err := w.in.fill(); err != nil {
			return cutOff(err)
		}
		if w.in.cur.buf[w.in.at] == 0 {
			break
		}
		s, err := w.block()
		if err != nil {
			return err
		}
		blocks.add(s)
	}
	index := xzIndex{in: &w.in}
	if err := index.check(blocks); err != nil {
		return err
	}
	return index.footer(w.check())
}

// streamHeader reads a stream's first bytes (section 2.1.1).
func (w *xzWalk) streamHeader() error {
	b := make([]byte, xzStreamHeader)
	if err := w.in.read(b); err != nil {
		return err
	}
	flags := b[6:8]
	switch _, known := xzCheckSize(flags[1]); {
	case string(b[:6]) != "\xfd7zXZ\x00":
		return xz.ErrFormat
	case crc32.ChecksumIEEE(flags) != binary.LittleEndian.Uint32(b[8:]):
		return xz.ErrData
	case flags[0] != 0 || flags[1] > 0x0f:
		return xz.ErrOptions
	case !known:
		return xz.ErrUnsupportedCheck
	}
	w.header = b
	return nil
}

// check is the stream's kind of check.
func (w *xzWalk) check() byte { return w.header[7] }

// xzCheckSize is the size of a block's check (section 2.1.1.2), for the known kinds.
func xzCheckSize(check byte) (bytes int, known bool) {
	switch check {
	case 0x00: // none
		return 0, true
	case 0x01: // CRC32
		return 4, true
	case 0x04: // CRC64
		return 8, true
	case 0x0a: // SHA-256
		return 32, true
	}
	return 0, false
}

// block hands a block on (section 3). The decompressor reads its header.
func (w *xzWalk) block() (xzSizes, error) {
	if err := w.beginRun(); err != nil {
		return xzSizes{}, err
	}
	w.in.start(w.cur)
	length, err := w.in.byte()
	if err != nil {
		return xzSizes{}, err
	}
	header := (int(length) + 1) * 4
	if err := w.in.skip(header - 1); err != nil {
		return xzSizes{}, err
	}
	packed, unpacked, err := w.lzma2()
	if err != nil {
		return xzSizes{}, err
	}
	check, _ := xzCheckSize(w.check())
	if err := w.in.skip(int(-packed&3) + check); err != nil { // padding makes the data a multiple of four
		return xzSizes{}, err
	}
	if err := w.in.stop(); err != nil {
		return xzSizes{}, err
	}
	s := xzSizes{unpadded: uint64(header) + uint64(packed) + uint64(check), unpacked: uint64(unpacked)}
	if err := w.cur.send(xzEnd(w.check(), s), nil); err != nil {
		return xzSizes{}, err
	}
	// Short runs are not worth it. Beyond the disk's end the decompressor of the last
	// one finds whether the image is too large or these sizes are wrong.
	if w.off%w.sector == 0 && w.off-w.cur.off >= chunkSize && w.off < w.size {
		w.endRun()
	}
	return s, nil
}

// beginRun has the next block in a run, and gives it its stream's header. A new
// run waits for someone to decompress it.
func (w *xzWalk) beginRun() error {
	if w.cur == nil {
		r := newRun(w.in.ctx, w.off, w.pieces)
		select {
		case w.runs <- r:
		case <-w.in.ctx.Done():
			return context.Cause(w.in.ctx)
		}
		w.cur = r
	}
	return w.cur.send(w.header, nil)
}

// endRun has the next block, if there is one, in a new run.
func (w *xzWalk) endRun() {
	if w.cur != nil {
		w.cur.end()
		w.cur = nil
	}
}

// lzma2 goes through a block's data, which is in chunks that say how long they
// are, and returns its bytes here and on the disk. Filters before LZMA2 change
// the bytes, not how many there are.
func (w *xzWalk) lzma2() (packed, unpacked int64, err error) {
	for {
		control, err := w.in.byte()
		if err != nil {
			return 0, 0, err
		}
		packed++
		var b [4]byte
		var header, data, disk int
		switch {
		case control == 0: // the end
			return packed, unpacked, nil
		case control <= 2: // not compressed
			header = 2
		case control < 0x80:
			return 0, 0, xz.ErrData
		default:
			header = 4
		}
		if err := w.in.read(b[:header]); err != nil {
			return 0, 0, err
		}
		first := int(binary.BigEndian.Uint16(b[:])) + 1
		data, disk = first, first
		if control >= 0x80 {
			data, disk = int(binary.BigEndian.Uint16(b[2:]))+1, first+int(control&0x1f)<<16
		}
		if control >= 0xc0 {
			data++ // new properties
		}
		w.off += int64(disk)
		if err := w.in.skip(data); err != nil {
			return 0, 0, err
		}
		packed, unpacked = packed+int64(header+data), unpacked+int64(disk)
	}
}

// padding goes over the zeroes after a stream (section 2.2), and says whether
// there is another.
func (w *xzWalk) padding() (more bool, err error) {
	for n := 0; ; n++ {
		err := w.in.fill()
		ended := errors.Is(err, io.EOF)
		switch {
		case err != nil && !ended:
			return false, err
		case !ended && w.in.cur.buf[w.in.at] == 0:
			w.in.at++
			continue
		case n%4 != 0:
			return false, xz.ErrData
		}
		return !ended, nil
	}
}
