package dhcp

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
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

// noLoader warns that a machine that is to boot will not, and returns the reason in words.
func (c *complainer) noLoader(m pxe.Client) string {
	why := fmt.Sprintf("%s (DHCP option 93 is %d) asks for a boot loader, and there is none for it: expected one of %s",
		pxe.Event{Firmware: m.Firmware, Arch: m.Arch}.Machine(), m.Arch, strings.Join(loader.Machines(), ", "))
	c.complain("no boot loader for this machine's architecture", "mac", m.MAC.String(), "arch", m.Arch, "firmware",
		m.Firmware, "why", why)
	return why
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
