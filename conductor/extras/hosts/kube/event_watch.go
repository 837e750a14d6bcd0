package kube

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// watchEvents streams events as they happen. Repetitions since the client's last event
// arrive as one event with its count. The client does not learn that events expire after an
// hour, or when there are too many.
func (s *Server) watchEvents(c *call, wants func(hostapi.Event) bool) error {
	w, err := s.watching(c)
	if err != nil {
		return err
	}
	from, said, err := c.since()
	if err != nil {
		return err
	}
	var first []hostapi.Event
	if !said {
		first, from = s.kept.List()
	}
	if _, _, _, complete := s.kept.Since(from); !complete {
		return objects.ErrExpired
	}
	return w.answer(func(ctx context.Context) error { return w.followEvents(ctx, first, from, wants) })
}

// followEvents writes events as they come.
func (w *watching) followEvents(ctx context.Context, first []hostapi.Event, seen int64,
	wants func(hostapi.Event) bool) error {
	quiet := time.NewTicker(bookmarkEvery)
	defer quiet.Stop()
	for all := first; ; {
		for _, e := range all {
			if !wants(e) {
				continue
			}
			kind := objects.Added
			if e.Count > 1 {
				kind = objects.Modified
			}
			if err := w.writeDocument(ctx, kind, &e); err != nil {
				return err
			}
		}
		if err := w.flush(); err != nil {
			return err
		}
		next, newest, more, complete := w.s.kept.Since(seen)
		if !complete {
			return w.line(watchEvent{"ERROR", failureOf(w.c, objects.ErrExpired).Status})
		}
		if all, seen = next, newest; len(all) > 0 {
			continue
		}
		select {
		case <-more:
		case <-quiet.C:
			if err := w.mark(seen); err != nil {
				return err
			}
		case <-ctx.Done(): // its time is over, or the client has gone
			return w.mark(seen)
		}
	}
}
