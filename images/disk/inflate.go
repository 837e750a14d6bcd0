package disk

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// inflater decompresses qcow2 clusters for one worker.
type inflater struct {
	out  []byte
	raw  deflate
	zstd *zstd.Decoder
}

// newInflater allocates nothing yet: most images have no compressed cluster.
func newInflater() *inflater { return &inflater{} }

// close frees the decoders.
func (d *inflater) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// buffer returns n bytes to decompress into.
func (d *inflater) buffer(n int64) []byte {
	if int64(cap(d.out)) < n {
		d.out = AlignedBuffer(int(n))
	}
	return d.out[:n]
}

// cluster decompresses in, which may have bytes of the next cluster after
// its end, into the whole of out.
func (d *inflater) cluster(out, in []byte, isZstd bool) error {
	if isZstd {
		return d.zstdCluster(out, in)
	}
	return d.raw.inflate(out, in)
}

// zstdCluster decompresses frames until out is full.
func (d *inflater) zstdCluster(out, in []byte) error {
	if d.zstd == nil {
		var err error
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
	}
	for done := 0; done < len(out); {
		n, err := zstdFrame(in)
		if err != nil {
			return err
		}
		got, err := d.zstd.DecodeAll(in[:n], out[done:done:len(out)])
		if err != nil {
			return err
		}
		done, in = done+len(got), in[n:]
	}
	return nil
}

// zstdFrame finds the length of the frame in starts with (RFC 8878, section 3.1.1): without it the decoder would take
// the bytes behind it for another frame.
func zstdFrame(in []byte) (int, error) {
	var h zstd.Header
	if err := h.Decode(in); err != nil {
		return 0, fmt.Errorf("zstd frame: %w", err)
	}
	if h.Skippable {
		return 0, errors.New("zstd frame: skippable frame in a cluster")
	}
	at := h.HeaderSize
	for last := false; !last; {
		if at+3 > len(in) {
			return 0, io.ErrUnexpectedEOF
		}
		block := int(in[at]) | int(in[at+1])<<8 | int(in[at+2])<<16
		last = block&1 != 0
		size := block >> 3
		if kind := block >> 1 & 3; kind == 1 { // RLE: one byte, repeated
			size = 1
		}
		at += 3 + size
	}
	if h.HasCheckSum {
		at += 4
	}
	if at > len(in) {
		return 0, io.ErrUnexpectedEOF
	}
	return at, nil
}
