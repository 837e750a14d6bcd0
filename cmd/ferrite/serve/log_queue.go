package serve

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

const (
	mostWaiting = 1 << 20         // bytes of the log that wait for its reader
	flushTime   = 5 * time.Second // for them at the end
)

// logQueue writes the log in its own goroutine. A pipe with a stalled reader (a debugger, a full disk behind it)
// therefore delays no request. Lines beyond mostWaiting are lost, and a line in their place gives their number.
type logQueue struct {
	to  io.Writer
	gap func(lost int) []byte

	mu      sync.Mutex
	more    *sync.Cond // or the end
	waiting []byte
	lost    int
	closed  bool
	ended   chan struct{}
}

// queued is w by way of a queue, if w is a file: others do not wait. flush writes the rest.
func queued(w io.Writer, format string) (out io.Writer, flush func()) {
	if _, file := w.(*os.File); !file {
		return w, func() {}
	}
	q := &logQueue{to: w, ended: make(chan struct{}), gap: func(lost int) []byte {
		var b bytes.Buffer
		if log, err := logger("error", format, &b); err == nil {
			log.Error("lines of this log were lost here: its reader did not keep up", "count", lost)
		}
		return b.Bytes()
	}}
	q.more = sync.NewCond(&q.mu)
	go q.run()
	return q, q.flush
}

// Write takes one line, or counts it as lost.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return q.to.Write(line)
	case q.lost > 0 || len(q.waiting)+len(line) > mostWaiting:
		q.lost++
	default:
		q.waiting = append(q.waiting, line...)
	}
	q.more.Signal()
	return len(line), nil
}

func (q *logQueue) run() {
	defer close(q.ended)
	for {
		q.mu.Lock()
		for len(q.waiting) == 0 && q.lost == 0 && !q.closed {
			q.more.Wait()
		}
		text, lost := q.waiting, q.lost
		q.waiting, q.lost = nil, 0
		q.mu.Unlock()
		if lost > 0 {
			text = append(text, q.gap(lost)...)
		}
		if len(text) == 0 {
			return
		}
		_, _ = q.to.Write(text) // an error of the log itself cannot be logged
	}
}

// flush writes the waiting lines, if their reader goes on within flushTime. Later lines are written at once.
func (q *logQueue) flush() {
	q.mu.Lock()
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	select {
	case <-q.ended:
	case <-time.After(flushTime):
	}
}
