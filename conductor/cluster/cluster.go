package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Times of a member.
const (
	lookEvery = 250 * time.Millisecond // between two looks at the others: an ordered takeover waits for one
	beatEvery = 2 * time.Second        // between two signs of life
	askTime   = 1500 * time.Millisecond
	stuckTime = 15 * time.Second // without a turn; the longest takes two signs of life that get no answer
)

// Config is the configuration of a member.
type Config struct {
	Rows Rows
	Self store.Member
	Log  *slog.Logger
	// Lead leads a group for a term, until ctx ends. It has the term serve requests once it can answer them. It
	// must return soon after ctx has ended: nothing that it does then has an effect.
	Lead func(ctx context.Context, t *Term) error
}

// Cluster is this conductor as a member.
type Cluster struct {
	Config
	view    atomic.Pointer[View]
	drained atomic.Bool
	behind  atomic.Bool  // a newer build has changed the schema
	turned  atomic.Int64 // when the last turn was over, in ns since began
	began   time.Time
	beaten  time.Time
	off     atomic.Int64 // the database's clock less this host's, in ns
	told    time.Time    // when the log last said so

	mu      sync.Mutex
	changed chan struct{}    // closed when another view is seen
	terms   map[string]*term // by group
	ended   sync.WaitGroup
}

// term is a term under way.
type term struct {
	*Term
	stop context.CancelFunc
}

// Join makes the first sign of life, and looks at the others.
func Join(ctx context.Context, conf Config) (*Cluster, error) {
	c := &Cluster{Config: conf, began: time.Now(), changed: make(chan struct{}), terms: map[string]*term{}}
	c.view.Store(&View{})
	err := c.beat(ctx)
	for errors.Is(err, store.ErrFolderTaken) && time.Since(c.began) < store.AliveFor+beatEvery {
		err = errors.Join(pause(ctx, lookEvery), c.beat(ctx)) // a host without power has not given its name back
	}
	if err != nil {
		return nil, err
	}
	return c, c.look(ctx)
}

// Run takes part until ctx ends: it leads its group when no other member does. It returns an error when this conductor
// can no longer be a member.
func (c *Cluster) Run(ctx context.Context) (err error) {
	work, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		c.ended.Wait()
		err = errors.Join(err, c.leave(ctx))
	}()
	reached := true
	for {
		err := c.turn(work)
		c.turned.Store(int64(time.Since(c.began)))
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, store.ErrNameTaken):
			return err
		case err != nil && reached:
			c.Log.Error("the database cannot be reached: this conductor takes part no longer", "err", err)
		case err == nil && !reached:
			c.Log.Info("the database can be reached again")
		}
		reached = err == nil
		if pause(ctx, lookEvery) != nil {
			return nil
		}
	}
}

// Alive is an error when this conductor no longer takes part. A database that cannot be reached is none: each turn ends
// in a few seconds all the same.
func (c *Cluster) Alive() error {
	if idle := time.Since(c.began) - time.Duration(c.turned.Load()); idle > stuckTime {
		return fmt.Errorf("this conductor has not read its cluster for %s, expected at most %s",
			idle.Round(time.Second), stuckTime)
	}
	return nil
}

// turn shows a sign of life when it is time, looks at the other members, and takes groups without a leader.
func (c *Cluster) turn(ctx context.Context) error {
	if time.Since(c.beaten) >= beatEvery {
		if err := c.beat(ctx); err != nil {
			return err
		}
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	v := c.View()
	c.mu.Lock()
	defer c.mu.Unlock()
	for group, t := range c.terms {
		if c.resting() || group != c.Self.Group && v.Candidates(group, c.Self.Name) {
			t.stop()
		}
	}
	for _, group := range c.wanted(v) {
		if c.terms[group] == nil && v.free(group, c.Self.Name) {
			c.begin(ctx, group)
		}
	}
	return nil
}

// wanted lists the groups that this member leads if no other member does. These are its own group, and the default
// group if that has no living member.
func (c *Cluster) wanted(v *View) (groups []string) {
	if c.resting() {
		return nil
	}
	groups = []string{c.Self.Group}
	if c.Self.Group != "" && !v.Candidates("", c.Self.Name) {
		groups = append(groups, "")
	}
	return groups
}

// resting reports whether this member may not lead.
func (c *Cluster) resting() bool { return c.drained.Load() || c.behind.Load() }

// begin tries to take a group, and leads it. c.mu is held.
func (c *Cluster) begin(ctx context.Context, group string) {
	work, stop := context.WithCancel(ctx)
	t := &term{stop: stop}
	c.terms[group] = t
	c.ended.Go(func() {
		defer stop()
		defer c.over(group)
		asked := time.Now()
		within, cancel := context.WithTimeout(work, takeTime)
		epoch, ok, err := c.Rows.Take(within, group, c.Self.Name, holdTime)
		cancel()
		if err != nil && work.Err() == nil {
			c.Log.Warn("the group cannot be taken; tried again", "group", group, "err", err)
			_ = pause(work, lookEvery)
		}
		if err != nil || !ok {
			return
		}
		c.mu.Lock()
		t.Term = newTerm(newLease(group, epoch, asked))
		c.mu.Unlock()
		c.lead(work, t.Term)
	})
}

func (c *Cluster) over(group string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.terms, group)
}

// beat shows a sign of life.
func (c *Cluster) beat(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, 2*askTime)
	defer cancel()
	if err := c.Rows.Hold(within); err != nil {
		return err
	}
	drained, err := c.Rows.Beat(within, c.Self)
	if err != nil {
		return err
	}
	if c.drained.Swap(drained) != drained {
		c.Log.Info("whether this conductor may lead was changed", "drained", drained)
	}
	behind, err := c.Rows.Behind(within)
	if err != nil {
		return err
	}
	if behind && !c.behind.Swap(true) {
		c.Log.Error("a newer build has changed the schema of the database: this conductor forwards, and leads no longer; " +
			"upgrade it")
	}
	c.beaten = time.Now()
	return nil
}

// Look asks the database how the cluster is now.
func (c *Cluster) Look(ctx context.Context) (*View, error) {
	within, cancel := context.WithTimeout(ctx, 2*askTime)
	defer cancel()
	asked := time.Now()
	members, leaders, err := c.Rows.Look(within)
	if err != nil {
		return nil, err
	}
	v := &View{Members: members, leaders: leaders, at: asked}
	v.goOnFrom(c.View())
	return v, nil
}

// look looks at the others.
func (c *Cluster) look(ctx context.Context) error {
	v, err := c.Look(ctx)
	if err != nil {
		return err
	}
	for _, m := range v.Members {
		if m.Name == c.Self.Name {
			c.drained.Store(m.Drained)
			c.compareClock(m.Seen)
		}
	}
	c.view.Store(v)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
	return nil
}

func (c *Cluster) leave(ctx context.Context) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	if err := c.Rows.Leave(within, c.Self.Name, c.Self.Instance); err != nil {
		return fmt.Errorf("leave the cluster: %w", err)
	}
	return nil
}

// View is the cluster as it was seen last.
func (c *Cluster) View() *View { return c.view.Load() }

// Looked is closed when the cluster was looked at again.
func (c *Cluster) Looked() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// LookAgain is the cluster as it is seen by a look that begins after now, or the last one when there is none for long.
func (c *Cluster) LookAgain(ctx context.Context) *View {
	now := time.Now()
	within, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	for {
		changed := c.Looked()
		if v := c.View(); v.at.After(now) {
			return v
		}
		select {
		case <-changed:
		case <-within.Done():
			return c.View()
		}
	}
}

// Knows reports whether a conductor of a group is alive. A conductor may have joined since the last look: there is
// another one before a group is called unknown.
func (c *Cluster) Knows(ctx context.Context, group string) bool {
	return group == "" || c.View().Known(group) || c.LookAgain(ctx).Known(group)
}

// LeaderOf is the name of the member that leads a group, "" for none. It is this member as soon as its term has begun,
// before the view shows that.
func (c *Cluster) LeaderOf(group string) string {
	if c.local(group) != nil {
		return c.Self.Name
	}
	leader, _, _ := c.View().Leader(group)
	return leader.Name
}

// Led reports whether a group has a leader.
func (c *Cluster) Led(group string) bool {
	if c.local(group) != nil {
		return true
	}
	_, _, led := c.View().Leader(group)
	return led
}

// Groups are the conductor groups of all members but the default one, in order.
func (c *Cluster) Groups() []string { return c.View().Groups() }

// local is the term of a group that this conductor leads, nil when there is none.
func (c *Cluster) local(group string) *Term {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.terms[group]; t != nil {
		return t.Term
	}
	return nil
}
