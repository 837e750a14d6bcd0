package bootlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// shelf is the logs of one node, oldest boot first.
type shelf struct {
	dir    string
	limits Limits

	mu      sync.Mutex
	boots   []*boot
	changed chan struct{} // closed and made anew at each change
	removed bool
}

// boot is one file. Places in the log are counted from its beginning, also
// when the oldest lines are gone from the file: base is how much that is.
type boot struct {
	number     int
	name, path string
	base, size int64
	last, next int64 // the line numbers of the batch that came last; next is 0 when none did
}

// fileName is the number of the boot, which orders them, and its name.
var fileName = regexp.MustCompile(`^([0-9]{8})-([0-9a-f]{16})\.log$`)

// openShelf reads what there is. The error may be that there is nothing; the
// shelf is good then.
func openShelf(dir string, l Limits) (*shelf, error) {
	s := &shelf{dir: dir, limits: l, changed: make(chan struct{})}
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return s, err
	}
	for _, e := range entries {
		parts := fileName.FindStringSubmatch(e.Name())
		if parts == nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return s, err
		}
		number, err := strconv.Atoi(parts[1])
		if err != nil {
			return s, err
		}
		s.boots = append(s.boots,
			&boot{number: number, name: parts[2], path: filepath.Join(dir, e.Name()), size: info.Size()})
	}
	return s, nil
}

// add appends lines to a boot's log. One that begins gets the lines of before first, when
// that is not nil.
func (s *shelf) add(name string, first int64, lines []string, before func() []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return fmt.Errorf("boot log %s: its node was deleted", s.dir)
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
	if before != nil && b.number > boots {
		for _, line := range before() {
			text.WriteString(clean("console: "+line) + "\n")
		}
	}
	for _, line := range lines {
		text.WriteString(clean(line) + "\n")
	}
	if err := b.write(text.Bytes()); err != nil {
		return err
	}
	b.last, b.next = first, end
	close(s.changed)
	s.changed = make(chan struct{})
	if b.size > s.limits.Bytes {
		return b.shorten(s.limits.Bytes * 3 / 4) // not at every line
	}
	return nil
}

// lastNumber is that of the newest boot, 0 for none.
func (s *shelf) lastNumber() int {
	if len(s.boots) == 0 {
		return 0
	}
	return s.boots[len(s.boots)-1].number
}

// boot finds a boot, or begins one and drops the oldest.
func (s *shelf) boot(name string) (*boot, error) {
	number := 1
	for _, b := range s.boots {
		if b.name == name {
			return b, nil
		}
		number = b.number + 1
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("boot log: %w", err)
	}
	b := &boot{number: number, name: name, path: filepath.Join(s.dir, fmt.Sprintf("%08d-%s.log", number, name))}
	s.boots = append(s.boots, b)
	for len(s.boots) > s.limits.Boots {
		if err := os.Remove(s.boots[0].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("boot log: %w", err)
		}
		s.boots[0].size = 0 // who still reads it has come to its end
		s.boots = s.boots[1:]
	}
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

// write appends to the file, whole or not at all.
func (b *boot) write(text []byte) error {
	f, err := os.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("boot log: %w", errors.Join(err, f.Truncate(b.size), f.Close()))
	}
	b.size += int64(len(text))
	if err := f.Close(); err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	return nil
}

// shorten drops the oldest lines so that about keep bytes are left, and says
// so in their place.
func (b *boot) shorten(keep int64) error {
	text, err := os.ReadFile(b.path)
	if err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	cut := int64(len(text)) - keep
	if end := bytes.IndexByte(text[cut:], '\n'); end >= 0 {
		cut += int64(end) + 1
	}
	text = append([]byte("(older lines are dropped)\n"), text[cut:]...)
	temp := strings.TrimSuffix(b.path, ".log") + ".new"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return fmt.Errorf("boot log: %w", errors.Join(err, os.Remove(temp)))
	}
	if err := os.Rename(temp, b.path); err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	b.base += b.size - int64(len(text))
	b.size = int64(len(text))
	return nil
}

// remove deletes all, and lets those who follow go.
func (s *shelf) remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed {
		s.removed, s.boots = true, nil
		close(s.changed)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("boot log: %w", err)
	}
	return nil
}
