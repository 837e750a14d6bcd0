package redfish

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// controller is one BMC. Whoever has entered it is the only one to use it.
type controller struct {
	o     *Options
	base  string
	gate  chan struct{} // holds one token while somebody is in
	idle  *time.Timer   // gives sessions back; runs while nobody is in
	users map[account]*login

	failures int       // in a row
	last     error     // the newest of them
	until    time.Time // when the BMC may be asked again
}

func newController(o *Options, base string) *controller {
	c := &controller{o: o, base: base, gate: make(chan struct{}, 1), users: map[account]*login{}}
	c.idle = time.AfterFunc(o.IdleTimeout, c.rest)
	return c
}

// enter waits for the call before to end.
func (c *controller) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.gate <- struct{}{}:
		c.idle.Stop()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets the next one in. The idle time begins behind the gate: were it to
// end before, rest would find the controller in use and keep the sessions.
func (c *controller) leave() {
	<-c.gate
	c.idle.Reset(c.o.IdleTimeout)
}

// call does something for one user of the BMC, unless the BMC is to be let
// alone.
func (c *controller) call(ctx context.Context, t *target, do func(s *session) error) error {
	l := c.login(t)
	if err := l.refused(); err != nil {
		return err
	}
	if err := c.pause(ctx); err != nil {
		return err
	}
	err := l.call(ctx, t, do)
	c.note(ctx, err)
	return err
}

// patience is the longest pause that a caller waits out; it is told of longer
// ones at once.
const patience = 2 * time.Second

// pause lets the BMC alone for a while after failures.
func (c *controller) pause(ctx context.Context) error {
	wait := time.Until(c.until)
	switch {
	case wait <= 0:
		return nil
	case wait > patience:
		return fmt.Errorf("not asked for another %s, after failures in a row: %d; the last: %w",
			wait.Round(time.Second), c.failures, c.last)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w while the BMC was let alone after: %w", ctx.Err(), c.last)
	}
}

// note remembers how a call went. A refusal is an answer: only a BMC that fails
// is let alone. A caller that gave up says nothing about the BMC.
func (c *controller) note(ctx context.Context, err error) {
	if !failure(err) || errors.Is(ctx.Err(), context.Canceled) {
		if err == nil {
			c.failures, c.last, c.until = 0, nil, time.Time{}
		}
		return
	}
	wait := min(c.o.BackOff<<min(c.failures, 20), c.o.MaxBackOff)
	c.failures++
	c.last, c.until = describe(err), time.Now().Add(wait)
}

// login finds the user's way in. Another password is another way: a node with
// a wrong one must not cost the others their session.
func (c *controller) login(t *target) *login {
	a := account{t.user, t.password, t.auth, t.verify, t.root}
	l := c.users[a]
	if l == nil {
		l = &login{c: c, account: a}
		c.users[a] = l
	}
	return l
}

// logout gives back the sessions of all users, and forgets the users.
func (c *controller) logout(ctx context.Context) {
	for _, l := range c.users {
		if err := l.logout(ctx); err != nil {
			c.o.Log.Warn("session not given back, it will run out by itself", "bmc", c.base, "err", err)
		}
	}
	clear(c.users)
}

// rest gives sessions back that nobody has used for long.
func (c *controller) rest() {
	select {
	case c.gate <- struct{}{}:
	default:
		return // in use again
	}
	defer func() { <-c.gate }()
	ctx, cancel := context.WithTimeout(context.Background(), c.o.RequestTimeout)
	defer cancel()
	c.logout(ctx)
}

// close gives all sessions back, waiting for a call under way.
func (c *controller) close(ctx context.Context) error {
	if err := c.enter(ctx); err != nil {
		return fmt.Errorf("redfish %s: a call is still under way: %w", c.base, err)
	}
	defer func() { <-c.gate }()
	c.logout(ctx)
	return nil
}
