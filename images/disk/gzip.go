package disk

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// byteScanner is read by whole bytes, so that a decompressor takes none beyond its stream.
type byteScanner interface {
	io.Reader
	io.ByteScanner
}

// gzipMembers decompresses a gz file as gzip(1) does: all its members, then zeroes to its end, as tapes and dd pad a
// file. Other bytes behind the last member are left out: rubbish reports them, and gzip(1) warns of them.
type gzipMembers struct {
	in      byteScanner
	z       *gzip.Reader
	rubbish bool
}

// newGzipMembers reads the first header.
func newGzipMembers(in byteScanner) (*gzipMembers, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{in: in, z: z}, nil
}

// Read decompresses. It reads the file to its end, so that its checksum is complete.
func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if n > 0 {
			return n, nil // the end comes again with the next read
		}
		more, err := g.next()
		if err != nil {
			return 0, err
		}
		if !more {
			return 0, io.EOF
		}
	}
}

// next goes to the next member, if there is one.
func (g *gzipMembers) next() (more bool, err error) {
	for zeroes := 0; ; zeroes++ {
		b, err := g.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case b == 0:
			continue
		}
		if err := g.in.UnreadByte(); err != nil {
			return false, err
		}
		if b == 0x1f && zeroes == 0 {
			err := g.z.Reset(g.in)
			g.z.Multistream(false)
			if err == nil || !errors.Is(err, gzip.ErrHeader) {
				return err == nil, notEOF(err)
			}
		}
		g.rubbish = true
		_, err = io.Copy(io.Discard, g.in)
		return false, err
	}
}

// notEOF makes an end amid a stream an error. A clean end never comes here.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// errRubbish is about bytes that no checksum accounts for.
var errRubbish = fmt.Errorf("%w: other bytes follow its gz stream: cut them off, or give the checksum of the whole "+
	"file", ErrFormat)

// strictGzip refuses rubbish.
type strictGzip struct{ *gzipMembers }

// Read turns an end behind rubbish into an error.
func (s strictGzip) Read(p []byte) (int, error) {
	n, err := s.gzipMembers.Read(p)
	if errors.Is(err, io.EOF) && s.rubbish {
		err = errRubbish
	}
	return n, err
}

// Close has nothing to free.
func (strictGzip) Close() error { return nil }
