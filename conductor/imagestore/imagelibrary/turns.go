package imagelibrary

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const (
	maxTurns = 4 // concurrent transfers
	ownTurns = 2 // of one project among them
	// leastRate is the least rate of a transfer, in bytes a second over the last slowTime. A slower one ends when
	// others wait, else a project could keep every turn for days.
	leastRate = 1 << 20
	slowTime  = 30 * time.Second
)

// turns are the transfers under way.
type turns struct {
	mu    sync.Mutex
	taken []*turn
}

// turn is the right to one transfer.
type turn struct {
	owner, by string // project, user
	began     time.Time
	cancel    context.CancelCauseFunc

	mu     sync.Mutex
	recent [slowTime / time.Second]int64 // bytes of the last seconds, in a ring
	second int                           // of its life, at which the ring stands
}

// rate counts received bytes, and returns the bytes a second over the last slowTime. An average over the whole transfer
// would let an early burst make up for hours.
func (t *turn) rate(more int64) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for now := int(time.Since(t.began) / time.Second); t.second < now; {
		t.second++
		t.recent[t.second%len(t.recent)] = 0
	}
	t.recent[t.second%len(t.recent)] += more
	sum := int64(0)
	for _, n := range t.recent {
		sum += n
	}
	return float64(sum) / slowTime.Seconds()
}

func (t *turn) slow() bool { return time.Since(t.began) >= slowTime && t.rate(0) < leastRate }

// take takes a turn for an image of a project. If all are taken, it ends a slow transfer, either of this project or of
// one with more turns. It chooses the project with the most turns, and there the slowest transfer. The context ends
// with the turn.
func (s *turns) take(ctx context.Context, log *slog.Logger, owner, by string) (context.Context, *turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := map[string]int{}
	for _, t := range s.taken {
		of[t.owner]++
	}
	if owner != "" && of[owner] >= ownTurns {
		return ctx, nil, nodeapi.NewFault(http.StatusServiceUnavailable, "%d images of project %s are being stored already: "+
			"try again when one of them is done.", of[owner], owner)
	}
	if len(s.taken) >= maxTurns {
		slow := slices.DeleteFunc(slices.Clone(s.taken), func(t *turn) bool {
			return !t.slow() || t.owner != owner && of[t.owner] <= of[owner]
		})
		if len(slow) == 0 {
			return ctx, nil, nodeapi.NewFault(http.StatusServiceUnavailable, "%d images are being stored already: try again "+
				"when one of them is done.", len(s.taken))
		}
		out := slices.MinFunc(slow, func(a, b *turn) int {
			return cmp.Or(cmp.Compare(of[b.owner], of[a.owner]), cmp.Compare(a.rate(0), b.rate(0)))
		})
		log.Warn("image gives way to another", "user", out.by, "project", out.owner,
			"took", time.Since(out.began).Round(time.Second))
		out.cancel(nodeapi.NewFault(http.StatusServiceUnavailable, "The image came at %.0f bytes a second in the last %s, "+
			"and others wait; at least %d are expected. Send it again on a faster way.", out.rate(0), slowTime, leastRate))
		s.taken = slices.DeleteFunc(s.taken, func(t *turn) bool { return t == out })
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
	a.turn.rate(int64(n))
	return n, err
}
