package imagestore

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// holdBack is how many of the last bytes are held back until the checksum was found right.
const holdBack = 64 << 10

// fetch is a transfer under way, from one origin to any number of readers.
type fetch struct {
	key   string
	owner string

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each change of the fields below
	size    int64         // -1: not known
	got     int64         // bytes in the file
	room    int64         // bytes that it may take of the cache
	done    bool
	err     error // why it has failed
}

func newFetch(key, owner string) *fetch {
	return &fetch{key: key, owner: owner, size: -1, changed: make(chan struct{})}
}

// change changes a fetch, and wakes its readers.
func (f *fetch) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// until waits until the fetch has failed, or ready says that enough has come. The lock is held while ready runs.
func (f *fetch) until(ctx context.Context, ready func() bool) error {
	for {
		f.mu.Lock()
		err, ok, changed := f.err, ready(), f.changed
		f.mu.Unlock()
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// servable is how many bytes readers may have. The lock is held.
func (f *fetch) servable() int64 {
	if f.done {
		return f.size
	}
	return max(0, min(f.got, f.size-holdBack))
}

// refusedFor is how long a failure that no other try mends is answered from memory: each of many readers asks again.
const refusedFor = 30 * time.Second

// Pull opens an image, and begins to fetch it if it is missing. It returns as soon as the size is known; reading waits
// for bytes that have yet to come. One transfer serves all callers of the same image. It goes on when ctx ends.
func (s *Store) Pull(ctx context.Context, src Source) (*Content, error) {
	key := src.Key()
	for {
		s.mu.Lock()
		f := s.fetches[key]
		if f == nil && !s.Has(key) {
			if s.life.Err() != nil {
				s.mu.Unlock()
				return nil, context.Cause(s.life)
			}
			if r, ok := s.refused[key]; ok && time.Now().Before(r.until) {
				s.mu.Unlock()
				return nil, r.err
			}
			if err := s.mayPull(src); err != nil {
				s.mu.Unlock()
				return nil, err
			}
			f = newFetch(key, src.Owner)
			s.fetches[key] = f
			s.running.Go(func() { s.carryOut(f, src) })
		}
		s.mu.Unlock()
		if f != nil {
			if err := f.until(ctx, func() bool { return f.size >= 0 || f.done }); err != nil {
				return nil, err
			}
		}
		c, err := s.Open(ctx, key)
		if !missing(err) || f == nil && ctx.Err() != nil {
			return c, err
		}
	}
}

// carryOut fetches an image to its end.
func (s *Store) carryOut(f *fetch, src Source) {
	began := time.Now()
	err := s.transfer(f, src)
	s.mu.Lock()
	delete(s.fetches, f.key)
	if err == nil && !src.Stored {
		s.kept[f.key] = &kept{f.got, time.Now()}
	}
	s.refuse(f.key, err)
	s.mu.Unlock()
	f.change(func() {
		f.err = err
		if f.done = err == nil; f.done {
			f.size = f.got
		}
	})
	at := src.name()
	if err != nil {
		s.Log.Warn("image not fetched", "url", at, "err", err)
		return
	}
	s.Log.Info("image fetched", "url", at, "bytes", f.got, "took", time.Since(began).Round(time.Millisecond))
}

// refuse remembers a failure that no other try mends. The lock is held.
func (s *Store) refuse(key string, err error) {
	now := time.Now()
	maps.DeleteFunc(s.refused, func(_ string, r refusal) bool { return now.After(r.until) })
	var lasting interface{ Permanent() bool }
	if errors.As(err, &lasting) && lasting.Permanent() {
		s.refused[key] = refusal{err, now.Add(refusedFor)}
	}
}
