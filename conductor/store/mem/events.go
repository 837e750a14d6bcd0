package mem

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// told has the events, and the position up to which older ones were deleted.
type eventLog struct {
	events []node.ChangeEvent
	last   int64
	gone   int64

	readers map[string]int64 // their places
}

func (t *eventLog) add(events ...node.ChangeEvent) {
	for _, e := range events {
		t.last++
		e.Position, e.Doc = t.last, slices.Clone(e.Doc)
		e.At = e.At.UTC().Truncate(time.Microsecond)
		t.events = append(t.events, e)
	}
}

// putEvent adds an event to the change.
func (c *change) putEvent(e node.ChangeEvent) {
	c.s.events.add(e)
	c.did(func() {
		t := &c.s.events
		t.events, t.last = t.events[:len(t.events)-1], t.last-1
	})
}

// PutEvents adds events.
func (s *Store) PutEvents(ctx context.Context, events []node.ChangeEvent) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.events.add(events...)
	return nil
}

// Events copies those after a position.
func (s *Store) Events(ctx context.Context, after int64, limit int) (found []node.ChangeEvent, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, e := range s.events.events {
		if e.Position > after && len(found) < limit {
			e.Doc = slices.Clone(e.Doc)
			found = append(found, e)
		}
	}
	return found, nil
}

// EventLog says how far they reach.
func (s *Store) EventLog(ctx context.Context) (node.EventLog, error) {
	if err := s.lock(ctx); err != nil {
		return node.EventLog{}, err
	}
	defer s.mu.Unlock()
	return node.EventLog{ID: "memory", Gone: s.events.gone, Newest: s.events.last}, nil
}

// SequenceEvents does nothing: events have their positions.
func (s *Store) SequenceEvents(ctx context.Context) (bool, error) {
	if err := s.lock(ctx); err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	return false, nil
}

// maxPruned is how many events are deleted at a time.
const maxPruned = 500

// PruneEvents deletes the oldest events that need not be kept.
func (s *Store) PruneEvents(ctx context.Context, keep node.EventRetention) (int, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	t := &s.events
	n := 0
	for n < len(t.events) && n < maxPruned {
		e := t.events[n]
		needed := keep.Needed >= 0 && e.Position > keep.Needed
		if old := e.Position <= t.last-int64(keep.Count) || e.At.Before(keep.Since); needed || !old {
			break
		}
		n++
	}
	if n > 0 {
		t.gone = t.events[n-1].Position
		t.events = slices.Clone(t.events[n:])
	}
	return n, nil
}

// EventReader is the place of a reader.
func (s *Store) EventReader(ctx context.Context, name string) (int64, bool, error) {
	if err := s.lock(ctx); err != nil {
		return 0, false, err
	}
	defer s.mu.Unlock()
	at, known := s.events.readers[name]
	return at, known, nil
}

// KeepEventReaders forgets other readers.
func (s *Store) KeepEventReaders(ctx context.Context, names []string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	maps.DeleteFunc(s.events.readers, func(name string, _ int64) bool { return !slices.Contains(names, name) })
	return nil
}

// SaveEventReader keeps the place of a reader.
func (s *Store) SaveEventReader(ctx context.Context, name string, position int64) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.events.readers == nil {
		s.events.readers = map[string]int64{}
	}
	s.events.readers[name] = position
	return nil
}
