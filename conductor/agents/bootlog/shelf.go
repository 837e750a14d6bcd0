package bootlog

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// shelf is the logs of one node, oldest boot first.
type shelf struct {
	node    string
	storage Storage
	limits  Limits

	mu      sync.Mutex
	boots   []*boot
	changed chan struct{} // closed and made anew at each change
	removed bool
}

// boot is one text. Places in the log are counted from its beginning, also
// when the oldest lines are gone from the text: base is how much that is.
type boot struct {
	Boot

	base       int64
	last, next int64 // the line numbers of the batch that came last; next is 0 when none did
}

// openShelf lists the boots of a node in the storage.
func openShelf(node string, from Storage, l Limits) (*shelf, error) {
	s := &shelf{node: node, storage: from, limits: l, changed: make(chan struct{})}
	found, err := from.Boots(node)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		s.boots = append(s.boots, &boot{Boot: b})
	}
	return s, nil
}

// add appends lines to a boot's log. A new log begins with the lines of before, unless that is nil.
func (s *shelf) add(name string, first int64, lines []string, before func() []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return fmt.Errorf("boot log of %s: the node was deleted", s.node)
	}
	boots := s.lastNumber()
	b, err := s.boot(name)
	if err != nil {
		return err
	}
	end := first + int64(len(lines))
	lines = b.fresh(first, lines)
	if len(lines) == 0 {
		return nil
	}
	var text bytes.Buffer
	if before != nil && b.Number > boots {
		for _, line := range before() {
			text.WriteString(clean("console: "+line) + "\n")
		}
	}
	for _, line := range lines {
		text.WriteString(clean(line) + "\n")
	}
	if err := s.storage.Append(s.node, b.Boot, text.Bytes()); err != nil {
		return fmt.Errorf("boot log: %w", errors.Join(err, s.reload()))
	}
	b.Size += int64(text.Len())
	b.last, b.next = first, end
	close(s.changed)
	s.changed = make(chan struct{})
	if b.Size > s.limits.Bytes {
		return s.shorten(b, s.limits.Bytes*3/4) // not at every line
	}
	return nil
}

// reload lists the boots in the storage again, after a change that may have taken effect or not.
func (s *shelf) reload() error {
	found, err := s.storage.Boots(s.node)
	if err != nil {
		return err
	}
	known := map[string]*boot{}
	for _, b := range s.boots {
		known[b.Name] = b
	}
	s.boots = nil
	for _, f := range found {
		b := known[f.Name]
		if b == nil {
			b = &boot{}
		}
		b.Boot = f
		s.boots = append(s.boots, b)
	}
	return nil
}

// lastNumber is the number of the newest boot, 0 for none.
func (s *shelf) lastNumber() int {
	if len(s.boots) == 0 {
		return 0
	}
	return s.boots[len(s.boots)-1].Number
}

// boot finds a boot, or begins one and drops the oldest.
func (s *shelf) boot(name string) (*boot, error) {
	number := 1
	for _, b := range s.boots {
		if b.Name == name {
			return b, nil
		}
		number = b.Number + 1
	}
	for len(s.boots) >= s.limits.Boots {
		if err := s.storage.Remove(s.node, s.boots[0].Boot); err != nil {
			return nil, fmt.Errorf("boot log: %w", err)
		}
		s.boots[0].Size = 0 // readers of this boot are at its end
		s.boots = s.boots[1:]
	}
	b := &boot{Boot: Boot{Number: number, Name: name}}
	s.boots = append(s.boots, b)
	return b, nil
}

// fresh leaves out the lines that came before. A number lower than any that
// may be sent again is an agent that was started anew.
func (b *boot) fresh(first int64, lines []string) []string {
	if first < b.last || first >= b.next {
		return lines
	}
	return lines[min(b.next-first, int64(len(lines))):]
}

// shorten drops the oldest lines so that about keep bytes are left, and says
// so in their place.
func (s *shelf) shorten(b *boot, keep int64) error {
	text, err := s.storage.Read(s.node, b.Boot, 0, b.Size)
	if err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	cut := max(int64(len(text))-keep, 0)
	if end := bytes.IndexByte(text[cut:], '\n'); end >= 0 {
		cut += int64(end) + 1
	}
	text = append([]byte("(older lines are dropped)\n"), text[cut:]...)
	if err := s.storage.Replace(s.node, b.Boot, text); err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	b.base += b.Size - int64(len(text))
	b.Size = int64(len(text))
	return nil
}

// remove deletes all logs, and ends their followers.
func (s *shelf) remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed {
		s.removed, s.boots = true, nil
		close(s.changed)
	}
	if err := s.storage.RemoveAll(s.node); err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	return nil
}
