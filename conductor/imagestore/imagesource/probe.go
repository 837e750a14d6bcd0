package imagesource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var errHops = fmt.Errorf("the server redirects more than %d times", maxHops)

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
	case got.StatusCode == http.StatusRequestedRangeNotSatisfiable && totalOf(got) == 0: // nothing is in its range
		return foundIn(rawURL, got, nil, 0)
	case got.StatusCode != http.StatusOK && got.StatusCode != http.StatusPartialContent:
		return doubt(rawURL, fmt.Errorf("the server answered %d %s", got.StatusCode, http.StatusText(got.StatusCode)))
	}
	first, err := io.ReadAll(io.LimitReader(got.Body, imagestore.HeadBytes))
	if err != nil { // a part of the first bytes could be taken for text
		return doubt(rawURL, err)
	}
	return foundIn(rawURL, got, first, size)
}

// foundIn is the kind of an image and its size on a disk, by its first bytes. size is the server's answer to HEAD.
func foundIn(rawURL string, got *http.Response, first []byte, size int64) (found node.ImageFound) {
	total := totalOf(got)
	switch {
	case got.Header.Get("Content-Encoding") != "": // unasked: the size may not be the image's
		size, first = -1, decoded(first)
	case total >= 0:
		size = total
	}
	kind, refusal := kindFor(rawURL, first, size)
	switch {
	case refusal != "" && kind.Format == node.ImageISO:
		found.ISO, found.Size = refusal, max(size, 0)
	case refusal != "":
		found.Gone = refusal
	case !packedByName(got.Request.URL.Path) || kind.Format == node.ImageQCOW2:
		found.Size = kind.DiskSize
	}
	if kind.Format == node.ImageQCOW2 && got.StatusCode == http.StatusOK {
		found.Doubt = masked(rawURL) + ": its server answers no Range requests, which Ferrite's agent needs for a qcow2"
	}
	return found
}

// kindFor is the kind of a file at a URL or path, and why no agent writes it to a disk; "" where one does.
func kindFor(at string, first []byte, size int64) (kind imagestore.Kind, refusal string) {
	kind, err := imagestore.KindOf(first, size)
	switch {
	case err != nil:
		refusal = strings.TrimPrefix(err.Error(), imagestore.ErrUnknown.Error()+": ")
	case kind.Format == node.ImageISO:
		_, err = disk.Detect(first)
		refusal = strings.TrimPrefix(err.Error(), disk.ErrFormat.Error()+": ")
	case kind.Format == node.ImageKernel, kind.Format == node.ImageRamdisk:
		refusal = fmt.Sprintf("it is a %s, which is booted and not written to a disk: name it as instance_info/%[1]s",
			kind.Format)
	default:
		return kind, ""
	}
	return kind, masked(at) + ": " + refusal
}

// decoding lets one answer at a time have the memory of a window.
var decoding sync.Mutex

// decoded is the beginning of an image that a server compressed on the way; first, where it did not.
func decoded(first []byte) []byte {
	decoding.Lock()
	defer decoding.Unlock()
	d, err := disk.Decoder(bytes.NewReader(first))
	if err != nil {
		return first
	}
	defer d.Close()
	begin := make([]byte, imagestore.HeadBytes)
	if n, _ := io.ReadFull(d, begin); n > 0 { // it is cut off on purpose
		return begin[:n]
	}
	return first
}

// ask sends a request as agents do; a GET is for the first bytes.
func (p *Prober) ask(ctx context.Context, method, rawURL string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, rawURL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if method == http.MethodGet {
		req.Header.Set("Range", "bytes=0-"+strconv.Itoa(imagestore.HeadBytes-1))
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

// packedByName reports names of files with another size than on a disk, of which the first bytes do not say so.
func packedByName(at string) bool {
	return slices.Contains([]string{".gz", ".bz2", ".xz", ".zst", ".zip", ".lz4", ".tar"}, strings.ToLower(path.Ext(at)))
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
	return node.ImageFound{Doubt: masked(rawURL) + ": " + nodeapi.MaskText(why), Unseen: true}
}

// masked is a URL for people, without credentials.
func masked(rawURL string) string { return nodeapi.Printable(nodeapi.MaskText(rawURL)) }
