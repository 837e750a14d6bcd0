package imagesource

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var errHops = fmt.Errorf("the server redirects more than %d times", maxHops)

// headBytes is how much is read of an image: its format, and the size of a qcow2.
const headBytes = 512

// refusals are the statuses that an agent would get as well, with the remedy. Others may be temporary, or concern the
// conductor alone.
var refusals = map[int]string{
	http.StatusUnauthorized: "write the credentials into the URL (http://user:password@host/path), or have it " +
		"served without",
	http.StatusForbidden: "have the server allow it, or give another URL",
	http.StatusNotFound:  "correct the URL, or put the image there",
	http.StatusGone:      "correct the URL, or put the image there",
}

// lookAt asks for an image by HEAD, then for its first bytes. Some servers refuse HEAD
// alone: signatures of S3 URLs are for one method.
func (p *Prober) lookAt(ctx context.Context, rawURL string) node.ImageFound {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return doubt(rawURL, ctx.Err())
	}
	size := int64(-1)
	head, err := p.ask(ctx, http.MethodHead, rawURL)
	if err != nil {
		return doubt(rawURL, err)
	}
	head.Body.Close()
	if head.StatusCode == http.StatusOK && head.Header.Get("Content-Encoding") == "" {
		size = head.ContentLength
	}
	got, err := p.ask(ctx, http.MethodGet, rawURL)
	if err != nil {
		return doubt(rawURL, err)
	}
	defer got.Body.Close() // which ends the transfer where the server ignores Range
	switch {
	case refusals[got.StatusCode] != "":
		return node.ImageFound{Gone: fmt.Sprintf("%s: the server answered %d %s; %s", masked(rawURL), got.StatusCode,
			http.StatusText(got.StatusCode), refusals[got.StatusCode])}
	case got.StatusCode != http.StatusOK && got.StatusCode != http.StatusPartialContent:
		return doubt(rawURL, fmt.Errorf("the server answered %d %s", got.StatusCode, http.StatusText(got.StatusCode)))
	}
	first := make([]byte, headBytes)
	n, err := io.ReadFull(got.Body, first)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return doubt(rawURL, err)
	}
	if n == 0 {
		return node.ImageFound{Gone: masked(rawURL) + ": the image is empty; put all of it there"}
	}
	switch total := totalOf(got); {
	case got.Header.Get("Content-Encoding") != "": // unasked: the size may not be the image's
		size = -1
	case total >= 0:
		size = total
	}
	found := node.ImageFound{Size: sizeOnDisk(first[:n], got.Request.URL.Path, size)}
	if bytes.HasPrefix(first, qcow2) && got.StatusCode == http.StatusOK {
		found.Doubt = masked(rawURL) + ": its server answers no Range requests, which Ferrite's agent needs for a qcow2"
	}
	return found
}

// ask sends a request as agents do; a GET is for the first bytes.
func (p *Prober) ask(ctx context.Context, method, rawURL string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, rawURL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if method == http.MethodGet {
		req.Header.Set("Range", "bytes=0-"+strconv.Itoa(headBytes-1))
	}
	return p.client.Do(req)
}

// totalOf is the size of all that a part was sent of; -1 when it is not known.
func totalOf(got *http.Response) int64 {
	if got.StatusCode == http.StatusOK {
		return got.ContentLength
	}
	_, text, ok := strings.Cut(got.Header.Get("Content-Range"), "/") // bytes 0-511/1234
	total, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || total < 0 {
		return -1
	}
	return total
}

// qcow2 begins with this magic; its virtual size is at byte 24 (QEMU, docs/interop/qcow2.rst).
var qcow2 = []byte("QFI\xfb")

// packed are the first bytes of files with a size that differs from the size on disk: compressed files, archives, and
// disk formats with a size of their own elsewhere.
var packed = [][]byte{
	{0x1f, 0x8b}, []byte("BZh"), {0xfd, '7', 'z', 'X', 'Z', 0}, {0x28, 0xb5, 0x2f, 0xfd}, []byte("PK\x03\x04"),
	[]byte("KDMV"), []byte("# Disk DescriptorFile"), []byte("vhdxfile"), []byte("conectix"), []byte("<<< "),
	[]byte("QED\x00"),
	[]byte("<"), // a web page
}

// sizeOnDisk is how many bytes an image has on a disk, 0 when its beginning does not say.
func sizeOnDisk(first []byte, path string, size int64) int64 {
	if bytes.HasPrefix(first, qcow2) {
		if len(first) < 32 {
			return 0
		}
		return max(0, int64(binary.BigEndian.Uint64(first[24:32]))) //nolint:gosec // a negative one is unknown
	}
	for _, magic := range packed {
		if bytes.HasPrefix(first, magic) {
			return 0
		}
	}
	for _, end := range []string{".gz", ".bz2", ".xz", ".zst", ".zip", ".lz4", ".tar"} {
		if strings.HasSuffix(strings.ToLower(path), end) {
			return 0
		}
	}
	return max(0, size)
}

// doubt is an image that the conductor cannot see; the machine's network may be another.
func doubt(rawURL string, err error) node.ImageFound {
	var of *url.Error
	if errors.As(err, &of) { // it names the URL with its credentials
		err = of.Err
	}
	why := err.Error()
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = notInTime + lookTime.String()
	case errors.As(err, &dns) && dns.IsNotFound:
		why = fmt.Sprintf("the conductor's name server knows no host %s", dns.Name)
	}
	return node.ImageFound{Doubt: masked(rawURL) + ": " + nodeapi.MaskText(why)}
}

// masked is a URL for people, without credentials.
func masked(rawURL string) string { return nodeapi.Printable(nodeapi.MaskText(rawURL)) }
