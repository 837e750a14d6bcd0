package ramdisk

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Strangers cause one warning in warnGap for each subject, and no more than maxWarned
// in all: they call as often as they like, and an IPv6 address of their own costs them
// nothing. The rest is logged at debug level.
const (
	warnGap   = time.Minute
	maxWarned = 100
)

// warning is a kind of them, and the node it is of, "" for none.
type warning struct{ text, node string }

// warnings are those of the last minute. The zero value is ready.
type warnings struct {
	mu    sync.Mutex
	since time.Time
	given map[warning]bool
}

// level is what one is logged at.
func (w *warnings) level(one warning, now time.Time) slog.Level {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since := now.Sub(w.since); since >= warnGap || since < 0 { // the clock was set back
		w.since, w.given = now, map[warning]bool{}
	}
	if w.given[one] || len(w.given) >= maxWarned {
		return slog.LevelDebug
	}
	w.given[one] = true
	return slog.LevelWarn
}

// warnOf logs that a call that anybody can make was refused; uuid is of the node
// it was about, "" if of none.
func (e *Ramdisks) warnOf(ctx context.Context, text, uuid string, args ...any) {
	if uuid != "" {
		args = append([]any{"node", uuid}, args...)
	}
	e.Log.Log(ctx, e.warnings.level(warning{text, uuid}, e.Now()), text, args...)
}
