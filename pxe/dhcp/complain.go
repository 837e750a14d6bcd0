package dhcp

import (
	"log/slog"
	"sync"
	"time"
)

// complainGap is the time between two warnings of one text: strangers can cause them.
const complainGap = time.Minute

// complainer warns, with one text at most once in complainGap. It is safe for concurrent use.
type complainer struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	last map[string]time.Time // by text, of which there are a few
}

func newComplainer(c Config) *complainer {
	return &complainer{log: c.Log, now: c.Now, last: map[string]time.Time{}}
}

func (c *complainer) complain(text string, args ...any) {
	now := c.now()
	c.mu.Lock()
	due := now.Sub(c.last[text]) >= complainGap
	if due {
		c.last[text] = now
	}
	c.mu.Unlock()
	if due {
		c.log.Warn(text, args...)
	}
}
