package ratelimit

import (
	"context"
	"log/slog"
	"strings"
	"time"
)

const (
	linesBurst = 200
	linesRate  = 2
	longest    = 256 // bytes of a text
)

// Lines is the log of what anybody can cause, before it is known who: linesBurst lines at once, linesRate a second, and
// texts of at most 256 bytes. Lines beyond are logged at debug level: a request from another IPv6 address each time
// costs nothing.
type Lines struct {
	log     *slog.Logger
	written *Limiter[struct{}]
}

// NewLines bounds a log; now is the clock.
func NewLines(log *slog.Logger, now func() time.Time) *Lines {
	return &Lines{log, New[struct{}](linesRate, linesBurst, now)}
}

// Info logs one line.
func (l *Lines) Info(text string, args ...any) { l.add(slog.LevelInfo, text, args) }

// Warn logs one line.
func (l *Lines) Warn(text string, args ...any) { l.add(slog.LevelWarn, text, args) }

func (l *Lines) add(level slog.Level, text string, args []any) {
	if !l.written.Take(struct{}{}, 1) {
		level = slog.LevelDebug
	}
	for i, a := range args {
		if err, ok := a.(error); ok && err != nil {
			a = err.Error()
		}
		if s, ok := a.(string); ok && len(s) > longest {
			args[i] = strings.ToValidUTF8(s[:longest], "") + "..."
		}
	}
	l.log.Log(context.Background(), level, text, args...)
}
