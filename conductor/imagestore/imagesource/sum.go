package imagesource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// sums remembers the checksums of files. They are made one after the other:
// more at a time would only make the disk seek, and nodes that are
// deployed together mostly want the same file.
type sums struct {
	turn  chan struct{} // held while looking or computing
	known map[string]known
}

// known is the sum of a file as it was.
type known struct {
	size     int64
	modified time.Time
	sum      string
}

func newSums() *sums { return &sums{turn: make(chan struct{}, 1), known: map[string]known{}} }

// sum is the sha256 of the file at a path that Find gave, in hexadecimal; a file
// of which it was made before is read again only if it has changed since.
func (s *Sources) sum(ctx context.Context, path string) (string, error) {
	select {
	case s.sums.turn <- struct{}{}:
		defer func() { <-s.sums.turn }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	file, info, err := s.files.Open(path)
	if err != nil {
		return "", permanent{err}
	}
	defer file.Close()
	if k, ok := s.sums.known[path]; ok && k.is(info) {
		return k.sum, nil
	}
	h := sha256.New()
	if _, err := io.CopyBuffer(h, untilDone{ctx, file}, make([]byte, 1<<20)); err != nil {
		return "", fmt.Errorf("checksum of %s: %w", path, err)
	}
	after, err := file.Stat()
	k := known{info.Size(), info.ModTime(), hex.EncodeToString(h.Sum(nil))}
	if err != nil || !k.is(after) {
		return "", fmt.Errorf("checksum of %s: the file was changed while it was read", path)
	}
	s.sums.known[path] = k
	return k.sum, nil
}

// is reports whether a file is as it was.
func (k known) is(info fs.FileInfo) bool {
	return info.Size() == k.size && info.ModTime().Equal(k.modified)
}

// untilDone ends reading with its context.
type untilDone struct {
	ctx context.Context // io.Reader has no other way to be cancelled
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
