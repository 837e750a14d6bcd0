// Package reload keeps the contents of files current: certificates, users. A file is read again when it has changed,
// with no restart and no signal. A file that cannot be read or makes no sense leaves its former contents in force.
//
// It knows nothing of the contents, and watches nothing in the background: it looks when it is asked.
package reload

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Files is a T made of one or several files. It is safe for concurrent use.
type Files[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	log   *slog.Logger

	mu      sync.Mutex
	current T
	seen    []stamp
	tried   [sha256.Size]byte // the sum of the last contents that were parsed, or refused
}

// stamp shows without reading that a file has changed.
type stamp struct {
	info    os.FileInfo // nil when it cannot be looked at
	settled bool        // it was not changed just before it was read
}

// settling is how long after a change a file may change again without another
// time stamp: the clock of a file system is coarse.
const settling = 2 * time.Second

// Open reads the files, in this order, and keeps the result of parse. The errors of parse are logged, so they must hold
// no secrets.
func Open[T any](log *slog.Logger, parse func(contents [][]byte) (T, error), paths ...string) (*Files[T], error) {
	f := &Files[T]{paths: paths, parse: parse, log: log}
	contents, err := f.read()
	if err == nil {
		f.tried = sum(contents, err)
		f.current, err = parse(contents)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.names(), err)
	}
	return f, nil
}

// Get is the value of the files as they are now, or as they were when they were last right.
func (f *Files[T]) Get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.changed() {
		return f.current
	}
	contents, err := f.read()
	if now := sum(contents, err); now == f.tried {
		return f.current // read already; and if it was wrong, said already
	} else {
		f.tried = now
	}
	next := f.current
	if err == nil {
		next, err = f.parse(contents)
	}
	if err != nil {
		f.log.Error("a changed file is not taken over; its former content stays in force", "file", f.names(), "err", err)
		return f.current
	}
	f.current = next
	f.log.Info("a changed file is taken over", "file", f.names())
	return f.current
}

// changed reports whether a file may hold something else than was read.
func (f *Files[T]) changed() bool {
	for i, path := range f.paths {
		info, err := os.Stat(path)
		was := f.seen[i]
		switch {
		case err != nil || was.info == nil:
			if err == nil || was.info != nil {
				return true
			}
		case !was.settled, !os.SameFile(info, was.info), info.Size() != was.info.Size(),
			!info.ModTime().Equal(was.info.ModTime()):
			return true
		}
	}
	return false
}

// read takes the stamps before the contents: a change in between is seen next
// time.
func (f *Files[T]) read() (contents [][]byte, err error) {
	f.seen = make([]stamp, len(f.paths))
	contents = make([][]byte, len(f.paths))
	for i, path := range f.paths {
		info, bad := os.Stat(path)
		if bad == nil {
			bad = own(info, path)
		}
		if bad == nil {
			at := stamp{info, time.Since(info.ModTime()).Abs() > settling}
			if contents[i], bad = os.ReadFile(path); bad == nil {
				f.seen[i] = at // an unreadable file is read again
			}
		}
		if bad != nil && err == nil {
			err = bad
		}
	}
	return contents, err
}

// Read reads a file that is not kept current. It refuses a file that other users can write to, as Open does.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = own(info, path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// own refuses a file that other users can write to, as sshd does with its own: they could log in, or be this server.
func own(info os.FileInfo, path string) error {
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s: other users can write to it (mode %#o): expected its owner alone; say: chmod go-w %s", path,
			mode, path)
	}
	return nil
}

// sum identifies contents, or the error of reading them.
func sum(contents [][]byte, err error) [sha256.Size]byte {
	if err != nil {
		contents = [][]byte{[]byte(err.Error())}
	}
	var all bytes.Buffer
	for _, c := range contents {
		one := sha256.Sum256(c)
		all.Write(one[:])
	}
	return sha256.Sum256(all.Bytes())
}

func (f *Files[T]) names() string { return strings.Join(f.paths, ", ") }
