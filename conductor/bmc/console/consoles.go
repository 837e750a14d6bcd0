package console

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Config holds the dependencies of Consoles.
type Config struct {
	// Open connects to the console of a node; take ends the connection of another user. Closing the line gives it back
	// to the BMC.
	Open func(ctx context.Context, node string, take bool) (io.ReadWriteCloser, error)
	// Recorded lists the nodes with consoles that stay open without viewers.
	Recorded func(ctx context.Context) ([]string, error)
	Log      *slog.Logger
}

// Times of the connections.
const (
	recordEvery = 15 * time.Second // between two looks at Recorded
	firstPause  = time.Second      // after a failure, doubled with each
	maxPause    = 30 * time.Second
	openTime    = time.Minute

	// permanentPause follows an error that trying again does not help against, such as a BMC
	// without a console.
	permanentPause = 10 * time.Minute
)

// Consoles are the consoles of all nodes. It is safe for concurrent use.
type Consoles struct {
	conf Config
	ctx  context.Context //nolint:containedctx // ends all lines

	mu    sync.Mutex
	lines map[string]*line
	open  sync.WaitGroup
}

// line is one console that is open, or about to be.
type line struct {
	hub      *hub
	viewers  int
	recorded bool
	cancel   context.CancelFunc
	done     chan struct{} // closed when the BMC has its line back
	retry    chan bool     // try now; true: end another user's connection
}

// New makes Consoles. Their lines end with ctx; Run waits for that.
func New(ctx context.Context, conf Config) *Consoles {
	return &Consoles{conf: conf, ctx: ctx, lines: map[string]*line{}}
}

// Attach lets a user view a node's console. With write set, the viewer may write if the console has no other writer,
// or if take is set too.
func (c *Consoles) Attach(node, user string, write, take bool) *Viewer {
	c.mu.Lock()
	l := c.lineOf(node, take)
	l.viewers++
	c.mu.Unlock()
	v := &Viewer{user: user, hub: l.hub, wake: make(chan struct{}, 1)}
	v.leave = sync.OnceFunc(func() { c.change(node, l, func() { l.viewers-- }) })
	l.hub.add(v, write, take)
	if take {
		select {
		case l.retry <- true:
		default:
		}
	}
	return v
}

// lineOf is the line of a node, opened when there is none; mu is held.
func (c *Consoles) lineOf(node string, take bool) *line {
	was := c.lines[node]
	if was != nil && was.viewers+count(was.recorded) > 0 {
		return was
	}
	ctx, cancel := context.WithCancel(c.ctx)
	l := &line{hub: newHub(), cancel: cancel, done: make(chan struct{}), retry: make(chan bool, 1)}
	c.lines[node] = l
	c.open.Go(func() {
		defer close(l.done)
		if was != nil {
			<-was.done // a BMC has one console
		}
		c.keep(ctx, node, l, take)
		c.forget(node, l)
	})
	return l
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// change alters the need for a line, and ends a line with no viewers that is not recorded.
func (c *Consoles) change(_ string, l *line, alter func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	alter()
	if l.viewers+count(l.recorded) == 0 {
		l.cancel()
	}
}

// forget removes a line that has ended.
func (c *Consoles) forget(node string, l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.cancel()
	l.recorded, l.viewers = false, 0
	if c.lines[node] == l {
		delete(c.lines, node)
	}
}

// BootLog is the output of a node's console before the kernel's first line, as lines for
// the log of a boot that begins.
func (c *Consoles) BootLog(node string) []string {
	c.mu.Lock()
	l := c.lines[node]
	c.mu.Unlock()
	if l == nil {
		return nil
	}
	return BeforeKernel(Lines(l.hub.bootOutput()))
}

// Run keeps the consoles open that are to be recorded, until the Consoles end. Then it
// waits until every BMC has its line back.
func (c *Consoles) Run() {
	defer c.open.Wait()
	tick := time.NewTicker(recordEvery)
	defer tick.Stop()
	for {
		if nodes, err := c.conf.Recorded(c.ctx); err == nil {
			c.record(nodes)
		} else if c.ctx.Err() == nil {
			c.conf.Log.Warn("consoles to record cannot be listed", "err", err)
		}
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// record opens the consoles of nodes, and closes all others that have no viewers.
func (c *Consoles) record(nodes []string) {
	wanted := map[string]bool{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	for _, n := range nodes {
		wanted[n] = true
		c.lineOf(n, false).recorded = true
	}
	for n, l := range c.lines {
		if l.recorded = wanted[n]; l.viewers+count(l.recorded) == 0 {
			l.cancel()
		}
	}
}
