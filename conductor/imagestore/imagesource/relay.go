package imagesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
)

// relay is an image on another server, for the requests of an agent. It keeps one connection while the agent reads on,
// and opens another when one breaks. It is an io.ReadSeeker for one reader.
type relay struct {
	ctx    context.Context //nolint:containedctx // io.Reader has no other way to be cancelled
	src    *disk.HTTPSource
	off    int64
	first  []byte // bytes that were read ahead
	from   int64  // where it begins
	body   io.ReadCloser
	bodyAt int64
	failed error
}

// Read gives the next bytes.
func (r *relay) Read(p []byte) (int, error) {
	if r.off >= r.src.Size() {
		return 0, io.EOF
	}
	if ahead := r.off - r.from; ahead >= 0 && ahead < int64(len(r.first)) {
		n := copy(p, r.first[ahead:])
		r.off += int64(n)
		return n, nil
	}
	if r.body == nil || r.bodyAt != r.off {
		_ = r.Close()
		r.body, r.bodyAt = r.src.BodyFrom(r.ctx, r.off), r.off
	}
	n, err := r.body.Read(p)
	r.off += int64(n)
	r.bodyAt = r.off
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = err
	}
	return n, err
}

// Seek is of io.Seeker. It waits for nothing.
func (r *relay) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.off
	case io.SeekEnd:
		offset += r.src.Size()
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of an image")
	}
	r.off = offset
	return offset, nil
}

// Close ends the connection.
func (r *relay) Close() error {
	if r.body == nil {
		return nil
	}
	body := r.body
	r.body = nil
	return body.Close()
}

const (
	// readAhead is how many bytes must have come before an answer begins: until then it can be an error.
	readAhead = 64 << 10
	// pieceSize bounds a part of an image that is asked for as it is; larger ones are read on and on.
	pieceSize = 1 << 20
)

// ahead reads the first bytes of an answer. A failure of the server then becomes an error status, instead of a broken
// body.
func (r *relay) ahead(from, to int64) error {
	size := r.src.Size()
	if from < 0 || from >= size {
		return nil // the answer says so
	}
	if want := min(to, size-1) - from + 1; to >= 0 && want > 0 && want <= pieceSize {
		piece := make([]byte, want)
		switch err := r.src.ReadRange(r.ctx, piece, from); {
		case err == nil:
			r.first, r.from = piece, from
			return nil
		case !errors.Is(err, disk.ErrNoRange):
			return err
		}
	}
	r.off = from
	first := make([]byte, min(readAhead, size-from))
	if _, err := io.ReadFull(r, first); err != nil {
		return err
	}
	r.first, r.from, r.off = first, from, 0
	return nil
}

// oneRange is the form of the ranges that agents ask for.
var oneRange = regexp.MustCompile(`^bytes=(\d{1,18})-(\d{0,18})$`)

// span is the part of an image that a request is for; to is -1 for its end, from for another form.
func span(r *http.Request) (from, to int64) {
	header := r.Header.Get("Range")
	if header == "" {
		return 0, -1
	}
	m := oneRange.FindStringSubmatch(header)
	if m == nil {
		return -1, -1
	}
	from, _ = strconv.ParseInt(m[1], 10, 64) // 18 digits are a number
	to = -1
	if m[2] != "" {
		to, _ = strconv.ParseInt(m[2], 10, 64)
	}
	return from, to
}

// serveGlance serves an image of Glance's to an agent as it is read.
func (d *agentServer) serveGlance(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("image")
	n, ok := d.admit(w, r, "glance "+id)
	if !ok {
		return
	}
	i, at, err := d.described(r.Context(), id)
	if err != nil {
		d.refused(w, n, err)
		return
	}
	d.relay(w, r, n, i, at)
}

// relay serves an image of Glance's as it is read.
func (d *agentServer) relay(w http.ResponseWriter, r *http.Request, n node.Node, i GlanceImage, at string) {
	body := &relay{ctx: r.Context(), src: disk.KnownHTTPSource(d.glance.HTTP(), at, i.Size, d.retry)}
	defer func() { _ = body.Close() }() // it was only read
	if r.Method == http.MethodGet {
		if err := body.ahead(span(r)); err != nil {
			d.refused(w, n, fmt.Errorf("image %s of Glance: %w", i.ID, err))
			return
		}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("ETag", `"`+i.ID+`"`) // the bytes under a UUID never change
	http.ServeContent(w, r, "", time.Time{}, body)
	if body.failed != nil && r.Context().Err() == nil {
		d.log.Warn("image breaks off", "node", n.UUID, "image", i.ID, "err", explain(body.failed))
	}
}

// described is Glance's description of an image, at most a minute old, and the URL of its bytes.
func (s *Sources) described(ctx context.Context, id string) (GlanceImage, string, error) {
	i, err := s.recent.Image(ctx, id)
	if err != nil {
		return i, "", err
	}
	at, err := s.glance.Data(ctx, id)
	return i, at, err
}
