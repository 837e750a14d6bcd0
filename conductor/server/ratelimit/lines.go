package ratelimit

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	linesBurst = 200
	linesRate  = 2
	moreEvery  = time.Minute
)

// Lines logs events that unauthenticated senders can cause: linesBurst lines at once, linesRate a second. A bound per
// sender would not help, because a new IPv6 address for each request costs nothing. Further lines are logged at debug
// level, and once a minute a line has their number. The handler of the log bounds texts.
type Lines struct {
	log     *slog.Logger
	written *Limiter[struct{}]
	more    atomic.Int64 // lines that were neither written nor reported yet
}

// NewLines bounds a log; now is the clock.
func NewLines(log *slog.Logger, now func() time.Time) *Lines {
	return &Lines{log: log, written: New[struct{}](linesRate, linesBurst, now)}
}

// Info logs one line.
func (l *Lines) Info(text string, args ...any) { l.add(slog.LevelInfo, text, args) }

// Warn logs one line.
func (l *Lines) Warn(text string, args ...any) { l.add(slog.LevelWarn, text, args) }

func (l *Lines) add(level slog.Level, text string, args []any) {
	if !l.written.Take(struct{}{}, 1) {
		level = slog.LevelDebug
		if l.more.Add(1) == 1 {
			time.AfterFunc(moreEvery, func() {
				l.log.Warn("more lines of this kind are at debug level", "kind", text, "count", l.more.Swap(0))
			})
		}
	}
	l.log.Log(context.Background(), level, text, args...)
}
