package bootlog

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// chunk is how much is read at a time.
const chunk = 64 << 10

// Tail is the last lines of the latest boot, oldest first; none when nothing
// was logged or it cannot be read.
func (k *Keeper) Tail(node string, lines int) []string {
	if lines <= 0 {
		return nil
	}
	var text bytes.Buffer
	err := k.Stream(context.Background(), node, nodeapi.LogQuery{Tail: lines}, func(b []byte) error {
		text.Write(b)
		return nil
	})
	if err != nil || text.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// Stream passes the log that a query selects to emit, in pieces. It ends with the first error of emit; a missing log is
// a *nodeapi.Fault. Following goes on until ctx ends or the node is deleted. A follower of the latest boot continues
// with the next boot.
func (k *Keeper) Stream(ctx context.Context, node string, q nodeapi.LogQuery, emit func([]byte) error) error {
	s, err := k.shelf(node)
	if err != nil {
		return err
	}
	r, err := s.reader(q)
	if err != nil {
		return err
	}
	for {
		piece, changed, err := r.next()
		if err != nil {
			return err
		}
		if len(piece) > 0 {
			if err := emit(piece); err != nil {
				return err
			}
			continue
		}
		if !q.Follow || changed == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// reader is a place in a shelf.
type reader struct {
	shelf  *shelf
	latest bool
	boot   *boot // nil: none has begun
	at     int64 // in the boot's log
}

// reader finds where a query begins.
func (s *shelf) reader(q nodeapi.LogQuery) (*reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &reader{shelf: s, latest: q.Boot == 0}
	if len(s.boots) == 0 && q.Follow && r.latest {
		return r, nil
	}
	if len(s.boots) == 0 {
		return nil, nodeapi.NewFault(http.StatusNotFound, "There is no log: no ramdisk of this node has logged anything yet.")
	}
	if q.Boot < 0 || q.Boot >= len(s.boots) {
		return nil, nodeapi.NewFault(http.StatusNotFound,
			"There is no log of boot %d: logs of %d boots are kept, and 0 is the latest.", q.Boot, len(s.boots))
	}
	r.boot = s.boots[len(s.boots)-1-q.Boot]
	r.at = r.boot.base
	if q.Tail <= 0 {
		return r, nil
	}
	text, err := s.storage.Read(s.node, r.boot.Boot, 0, r.boot.Size)
	if err != nil {
		return nil, fmt.Errorf("boot log: %w", err)
	}
	from := max(len(text)-1, 0) // the last line's end counts for none
	for range q.Tail {
		if from = bytes.LastIndexByte(text[:from], '\n'); from < 0 {
			break
		}
	}
	r.at += int64(from + 1)
	return r, nil
}

// next returns more of the log. At the end it returns a channel that is closed at the next change, or nil when the log
// is complete.
func (r *reader) next() (piece []byte, changed <-chan struct{}, err error) {
	s := r.shelf
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return nil, nil, nil
	}
	if r.boot != nil {
		if piece, err = s.read(r.boot, r.at); err != nil || len(piece) > 0 {
			r.at = max(r.at, r.boot.base) + int64(len(piece))
			return piece, nil, err
		}
	}
	if n := len(s.boots); r.latest && n > 0 && s.boots[n-1] != r.boot {
		if r.boot != nil {
			piece = []byte("(the machine has booted again)\n")
		}
		r.boot = s.boots[n-1]
		r.at = r.boot.base
		if piece == nil {
			piece, err = s.read(r.boot, r.at)
			r.at += int64(len(piece))
		}
		return piece, nil, err
	}
	if !r.latest {
		return nil, nil, nil // that boot is over
	}
	return nil, s.changed, nil
}

// read is a piece of a boot's text from a place on. A place that is gone is passed
// over; the text begins with saying so.
func (s *shelf) read(b *boot, at int64) ([]byte, error) {
	from := max(at-b.base, 0)
	if from >= b.Size {
		return nil, nil
	}
	piece, err := s.storage.Read(s.node, b.Boot, from, min(chunk, b.Size-from))
	if err != nil {
		return nil, fmt.Errorf("boot log: %w", err)
	}
	return piece, nil
}
