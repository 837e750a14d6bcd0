package httpboot

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// Callers that are refused are warned of once in warnGap, and no more than
// maxWarned of them: strangers can cause it as often as they like.
const (
	warnGap   = time.Minute
	maxWarned = 20
)

// warnings are the callers that were warned of lately. The zero value is ready.
type warnings struct {
	mu    sync.Mutex
	since time.Time
	of    map[netip.Addr]bool
}

// level returns the log level for the refusal of a caller.
func (w *warnings) level(from netip.Addr, now time.Time) slog.Level {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.since) >= warnGap {
		w.since, w.of = now, map[netip.Addr]bool{}
	}
	if w.of[from] || len(w.of) >= maxWarned {
		return slog.LevelDebug
	}
	w.of[from] = true
	return slog.LevelWarn
}
