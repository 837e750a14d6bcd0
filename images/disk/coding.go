package disk

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Coded is a Source with a Content-Encoding that the request did not ask for. Some servers set the header for a stored
// .gz file (Apache's AddEncoding), others compress on the way. The header alone does not distinguish the two: the
// checksum decides.
type Coded interface {
	// Coding is the Content-Encoding named, "" for none.
	Coding() string
}

// codingOf is the Content-Encoding under which a source came, "" for none.
func codingOf(src Source) string {
	if c, ok := src.(Coded); ok {
		return c.Coding()
	}
	return ""
}

// Decoder decompresses a gz or zst stream, which it recognises by its first bytes: a server's own name of its coding
// is not trusted. Any other stream is an error that wraps ErrFormat.
func Decoder(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(4) // a stream that is shorter is none
	switch format, _ := Detect(head); format {
	case Gzip:
		z, err := newGzipMembers(in)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		return strictGzip{z}, nil
	case Zstd:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		return z.IOReadCloser(), nil
	default:
		return nil, fmt.Errorf("%w: its bytes are no gz or zst stream", ErrFormat)
	}
}

// Uncoded is the image that a coded source holds where its bytes as they come cannot be one: a compressed qcow2, say.
// Any other source is returned as it is, and Write compares both sums.
func Uncoded(src Source) Source {
	if codingOf(src) == "" {
		return src
	}
	d, err := Decoder(bytes.NewReader(src.Head()))
	if err != nil {
		return src
	}
	head := make([]byte, headSize)
	n, _ := io.ReadFull(d, head) // it is cut off on purpose
	_ = d.Close()                // of a few bytes in memory
	if f, err := Detect(head[:n]); err == nil && f == Raw {
		return src
	}
	return decoded{src, head[:n]}
}

// decoded is a Source without its coding. Its size is unknown until it was read.
type decoded struct {
	Source
	head []byte
}

// Coding is the source's.
func (d decoded) Coding() string { return codingOf(d.Source) }

// Size is not known.
func (d decoded) Size() int64 { return -1 }

// Head is the decoded image's start.
func (d decoded) Head() []byte { return d.head }

// Body decodes while it comes.
func (d decoded) Body(ctx context.Context) (io.ReadCloser, error) {
	body, err := d.Source.Body(ctx)
	if err != nil {
		return nil, err
	}
	z, err := Decoder(body)
	if err != nil {
		_ = body.Close() // only read from: nothing to lose
		return nil, err
	}
	return decodedBody{z, body}, nil
}

// decodedBody closes the connection as well.
type decodedBody struct {
	io.ReadCloser
	from io.Closer
}

// Close ends both.
func (b decodedBody) Close() error {
	_ = b.ReadCloser.Close() // of memory
	return b.from.Close()
}

// codedError is a wrong checksum that an unasked coding may explain.
type codedError struct {
	wrong  *ChecksumError
	coding string
}

// Error names the coding.
func (e codedError) Error() string {
	return fmt.Sprintf("%s; the server sends it with Content-Encoding %s, which was not asked for, and neither these "+
		"bytes nor those inside them have that checksum: have it served as it is stored", e.wrong, clip(e.coding))
}

// Unwrap gives the wrong checksum.
func (e codedError) Unwrap() error { return e.wrong }
