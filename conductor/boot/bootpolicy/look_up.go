package bootpolicy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/pxe"
)

const (
	// lookUpFor is how long an answer for a machine is reused. A machine asks DHCP twice within milliseconds, and each
	// answer is a boot stage. Scripts and files are always looked up anew.
	lookUpFor  = 250 * time.Millisecond
	maxLookUps = 2048
)

// lookUp is the answer to a machine that asks for an address.
type lookUp struct {
	at        time.Time
	node      string // its UUID; "" for a machine that is not enrolled
	otherPort bool   // the node waits for a ramdisk, and this port is not for booting
	boot      pxe.Boot
}

// lookUps are the machines that were looked for a moment ago: queries are most of the cost of an answer. The zero value
// is ready.
type lookUps struct {
	mu    sync.Mutex
	of    map[string]*lookUp // by MAC, its bytes
	older map[string]*lookUp // of before
}

// note remembers a look-up.
func (u *lookUps) note(mac []byte, l *lookUp) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil || len(u.of) >= maxLookUps {
		u.older, u.of = u.of, map[string]*lookUp{}
	}
	u.of[string(mac)] = l
}

func (u *lookUps) lately(mac []byte, now time.Time) (lookUp, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	l := u.of[string(mac)]
	if l == nil {
		l = u.older[string(mac)]
	}
	if l == nil || now.Sub(l.at) >= lookUpFor {
		return lookUp{}, false
	}
	return *l, true
}

// lookUp finds the node of a machine and its boot. If only the boot fails, it returns the node with the error.
func (p *Policy) lookUp(ctx context.Context, c pxe.Client) (lookUp, error) {
	now, toBoot := time.Now(), c.Script || c.Files
	if l, known := p.looked.lately(c.MAC, now); known && !toBoot {
		return l, nil
	}
	l := lookUp{at: now}
	n, port, err := p.Engine.NodeByMAC(ctx, c.MAC.String())
	switch {
	case errors.Is(err, node.ErrNotFound):
		l.boot, err = p.stranger(c), nil
	case err == nil:
		l.node, l.otherPort = n.UUID, !port.PXEEnabled && plan.WantsRamdisk(n)
		l.boot, err = p.boot(ctx, c, n, port)
	}
	if err == nil && !toBoot {
		kept := l
		kept.boot.Overlay, kept.boot.Cmdline = "", "" // they are first read for the script
		p.looked.note(c.MAC, &kept)
	}
	return l, err
}
