package kube

import (
	"errors"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// Bounds of the lines kept for watches that still have to send them.
const (
	linesKept  = 128
	linesBytes = 8 << 20
)

// lineKey is all that a line of a watch depends on. A revision is of one write of
// one document.
type lineKey struct {
	revision int64
	kind     objects.EventType
	as       string // the form
	include  string // the includeObject of a table: its part of each document
	second   int64  // when it is, for the ages in a table
	masked   bool   // the caller may not see credentials
}

// lines are the newest lines of watches. Many watches follow the same documents, and get a
// write at the same moment: one of them renders the document, the others wait and send the
// same bytes.
type lines struct {
	mu    sync.Mutex
	known map[lineKey]*line
	order []lineKey
	bytes int
}

type line struct {
	once sync.Once
	text []byte // not to be changed
	err  error
	size int // the size that is counted for it
}

var errUnfinished = errors.New("the line of this write could not be made")

func newLines() *lines { return &lines{known: map[lineKey]*line{}} }

// of is a line; the first caller makes it by render.
func (l *lines) of(key lineKey, render func() ([]byte, error)) ([]byte, error) {
	e := l.entry(key)
	e.once.Do(func() {
		e.err = errUnfinished // for the other callers, if render panics
		e.text, e.err = render()
		l.made(key, e)
	})
	return e.text, e.err
}

func (l *lines) entry(key lineKey) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.known[key]; e != nil {
		return e
	}
	e := &line{}
	l.known[key] = e
	l.order = append(l.order, key)
	l.bound()
	return e
}

// made counts a line, unless it was dropped meanwhile.
func (l *lines) made(key lineKey, e *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[key] == e {
		e.size = len(e.text)
		l.bytes += e.size
		l.bound()
	}
}

// bound drops the oldest lines. It is called with mu held.
func (l *lines) bound() {
	gone := 0
	for ; len(l.order)-gone > linesKept || l.bytes > linesBytes; gone++ {
		l.bytes -= l.known[l.order[gone]].size
		delete(l.known, l.order[gone])
	}
	l.order = append(l.order[:0], l.order[gone:]...)
}
