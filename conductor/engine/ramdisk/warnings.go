package ramdisk

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Callers without proof cause one warning in warnGap for each subject, and no more than maxWarned in all: they can call
// at any rate, from any number of IPv6 addresses. The rest is logged at debug level.
const (
	warnGap   = time.Minute
	maxWarned = 100
)

// warning is a kind of them, and the node it is of, "" for none.
type warning struct{ text, node string }

// warnings are the warnings of the last minute. The zero value is ready.
type warnings struct {
	mu    sync.Mutex
	since time.Time
	given map[warning]bool
}

// level returns the log level for a warning.
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

// warnOf logs the refusal of a call that any sender can make. uuid is the node that the call was about, "" for none.
func (e *Ramdisks) warnOf(ctx context.Context, text, uuid string, args ...any) {
	if uuid != "" {
		args = append([]any{"node", uuid}, args...)
	}
	e.Log.Log(ctx, e.warnings.level(warning{text, uuid}, e.Now()), text, args...)
}
