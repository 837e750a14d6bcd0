// Package logbook is the agent's log: it goes to every console and the
// kernel's log as it is written, and its last part is kept in memory, for
// log.collect_system_logs and inspection data.
//
// It must not grow without bound and must not lose lines because one console
// is broken.
package logbook

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// keep is how much of the log is held in memory, in bytes.
const keep = 1 << 20

// Book is the log. Writers can be added while it is in use.
type Book struct {
	mu   sync.Mutex
	tail []byte
	outs []io.Writer
}

// Write sends a line to all outputs and keeps it. It never fails: an output
// that does is none the worse for the others, and there is nowhere to say so.
func (b *Book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.outs {
		_, _ = w.Write(p)
	}
	b.tail = append(b.tail, p...)
	if extra := len(b.tail) - keep; extra > keep/4 { // not at every line
		b.tail = append([]byte(nil), b.tail[extra:]...)
	}
	return len(p), nil
}

// Add also sends later lines to w.
func (b *Book) Add(w io.Writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outs = append(b.outs, w)
}

// Tail is a copy of the lines in memory.
func (b *Book) Tail() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]byte(nil), b.tail[max(0, len(b.tail)-keep):]...)
}

// Logger logs into the book. Lines start with the machine's uptime instead of
// the time of day, which is wrong on many a machine that was just switched on. The signature of an image's URL is left
// out: consoles and the conductor's folder of logs have the lines, too.
func (b *Book) Logger(debug bool, uptime func() time.Duration) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey && len(groups) == 0 {
				return slog.String("up", uptime().Round(time.Millisecond).String())
			}
			return nodeapi.MaskAttr(groups, a)
		},
	}))
}
