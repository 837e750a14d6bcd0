package controller

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// controller is one BMC. One caller at a time uses it, between enter and leave.
type controller[A comparable, L Login] struct {
	pool    *Pool[A, L]
	o       *Options
	address string
	gate    chan struct{} // holds one token while a call is in progress
	idle    *time.Timer   // gives logins back after a time without calls; stopped during a call
	users   map[A]*user[L]
	pause   backOff
	calls   int // under way or waiting; under the pool's lock
}

// user is a login, and the BMC's refusal of its credentials, if any.
type user[L Login] struct {
	login   L
	refusal error
	until   time.Time // until then the BMC is not asked again
}

func newController[A comparable, L Login](p *Pool[A, L], address string) *controller[A, L] {
	c := &controller[A, L]{
		pool: p, o: &p.o, address: address, gate: make(chan struct{}, 1), users: map[A]*user[L]{},
		pause: backOff{first: p.o.BackOff, most: p.o.MaxBackOff},
	}
	c.idle = time.AfterFunc(p.o.IdleTimeout, c.release)
	return c
}

// enter waits for the call before to end.
func (c *controller[A, L]) enter(ctx context.Context) error {
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
// end before, rest would find the controller in use and keep the logins.
func (c *controller[A, L]) leave() {
	<-c.gate
	c.idle.Reset(c.o.IdleTimeout)
}

// call does something for one user of the BMC, unless the BMC is to be let
// alone.
func (c *controller[A, L]) call(ctx context.Context, a A, do func(ctx context.Context, l L) error) error {
	u := c.users[a]
	if u == nil {
		u = &user[L]{login: c.pool.open(c.address, a)}
		c.users[a] = u
	}
	if time.Now().Before(u.until) {
		return u.refusal
	}
	if err := c.pause.wait(ctx); err != nil {
		return err
	}
	began := time.Now()
	err := do(ctx, u.login)
	c.o.Called(time.Since(began), err)
	c.note(ctx, u, err)
	return err
}

// note remembers the result of a call. A refusal is an answer: only a BMC that fails gets a pause. A caller that gave
// up is no sign of trouble at the BMC.
func (c *controller[A, L]) note(ctx context.Context, u *user[L], err error) {
	var refused *CredentialsError
	switch {
	case err == nil:
		c.pause.succeeded()
	case errors.As(err, &refused):
		c.logout(ctx, u.login) // a session may have been given nevertheless
		u.refusal, u.until = refused, time.Now().Add(c.o.RefusedFor)
	case c.o.Failure(err) && !errors.Is(ctx.Err(), context.Canceled):
		c.pause.failed(err)
	}
}

func (c *controller[A, L]) logout(ctx context.Context, l L) {
	if err := l.Logout(ctx); err != nil {
		c.o.Log.Warn("session not given back, it will run out by itself", "bmc", c.address, "err", err)
	}
}

// release gives back logins that were not used for long. The pool forgets the BMC too, unless its back-off still runs
// or a caller waits for it.
func (c *controller[A, L]) release() {
	select {
	case c.gate <- struct{}{}:
	default:
		return // in use again
	}
	defer func() { <-c.gate }()
	ctx, cancel := context.WithTimeout(context.Background(), c.o.LogoutTimeout)
	defer cancel()
	c.forget(ctx)
	if time.Now().Before(c.pause.until) || !c.pool.forget(c) {
		c.idle.Reset(c.o.IdleTimeout)
	}
}

// forget logs out all users.
func (c *controller[A, L]) forget(ctx context.Context) {
	for _, u := range c.users {
		c.logout(ctx, u.login)
	}
	clear(c.users)
}

// close gives all logins back, waiting for a call under way.
func (c *controller[A, L]) close(ctx context.Context) error {
	if err := c.enter(ctx); err != nil {
		return fmt.Errorf("%s %s: a call is still under way: %w", c.o.Driver, c.address, err)
	}
	defer func() { <-c.gate }()
	c.forget(ctx)
	return nil
}
