package imagelibrary

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const (
	maxTurns = 4 // images that are taken at a time
	ownTurns = 2 // of them of one project
	// leastRate is what an image gains at the least, in bytes a second, once it is slowTime old. A slower one ends when
	// others wait, else a project could keep every turn for days.
	leastRate = 1 << 20
	slowTime  = 30 * time.Second
)

// turns are the images that are being taken.
type turns struct {
	mu    sync.Mutex
	taken []*turn
}

// turn is one of them.
type turn struct {
	owner, by string // project, user
	began     time.Time
	got       atomic.Int64 // bytes
	cancel    context.CancelCauseFunc
}

// rate is the bytes that have come in a second of its life.
func (t *turn) rate() float64 { return float64(t.got.Load()) / time.Since(t.began).Seconds() }

func (t *turn) slow() bool { return time.Since(t.began) >= slowTime && t.rate() < leastRate }

// take takes a turn for an image of a project, if need be that of a slow one. The context ends with the turn.
func (s *turns) take(ctx context.Context, log *slog.Logger, owner, by string) (context.Context, *turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for _, t := range s.taken {
		if owner != "" && t.owner == owner {
			own++
		}
	}
	if own >= ownTurns {
		return ctx, nil, nodeapi.NewFault(http.StatusServiceUnavailable, "%d images of project %s are being stored already: "+
			"try again when one of them is done.", own, owner)
	}
	if len(s.taken) >= maxTurns {
		at := -1
		for i, t := range s.taken {
			if t.slow() && (at < 0 || t.rate() < s.taken[at].rate()) {
				at = i
			}
		}
		if at < 0 {
			return ctx, nil, nodeapi.NewFault(http.StatusServiceUnavailable, "%d images are being stored already: try again "+
				"when one of them is done.", len(s.taken))
		}
		out := s.taken[at]
		log.Warn("image gives way to another", "user", out.by, "project", out.owner, "bytes", out.got.Load(),
			"took", time.Since(out.began).Round(time.Second))
		out.cancel(nodeapi.NewFault(http.StatusServiceUnavailable, "The image came at %.0f bytes a second, and others wait; "+
			"at least %d are expected. Send it again on a faster way.", out.rate(), leastRate))
		s.taken = slices.Delete(s.taken, at, at+1)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t := &turn{owner: owner, by: by, began: time.Now(), cancel: cancel}
	s.taken = append(s.taken, t)
	return ctx, t, nil
}

// end gives a turn back.
func (s *turns) end(t *turn) {
	t.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = slices.DeleteFunc(s.taken, func(other *turn) bool { return other == t })
}

// arriving counts the bytes of an image for its turn.
type arriving struct {
	io.Reader
	turn *turn
}

func (a arriving) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.turn.got.Add(int64(n))
	return n, err
}
