// Package controller keeps the connection to each BMC, for drivers of every protocol. BMCs are small computers that
// fail under load. So a BMC sees one call at a time and one login per user, has a pause after failures, and gets its
// sessions back when they are no longer used.
//
// It must not know any protocol: a driver defines a login, and the errors that mean a BMC in trouble.
package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Options are how patient a Pool is; zero durations mean the defaults.
type Options struct {
	Driver        string // its name, with which errors begin
	Log           *slog.Logger
	Failure       func(error) bool // reports an error of a BMC in trouble: no answer, or an error of its own
	CallTimeout   time.Duration    // bounds each call, however many requests it takes, 60 s
	LogoutTimeout time.Duration    // bounds giving back the logins of one BMC, 15 s
	IdleTimeout   time.Duration    // after which logins are given back, 5 min
	RefusedFor    time.Duration    // how long refused credentials are not tried again, 30 s
	BackOff       time.Duration    // the first pause after a failure, doubled with each, 250 ms
	MaxBackOff    time.Duration    // 60 s

	// Called is called after every call that reached the BMC, with its duration. It must not wait. May be nil.
	Called func(took time.Duration, err error)
}

func (o *Options) defaults() {
	for _, d := range []struct {
		to *time.Duration
		is time.Duration
	}{
		{&o.CallTimeout, time.Minute}, {&o.LogoutTimeout, 15 * time.Second},
		{&o.IdleTimeout, 5 * time.Minute}, {&o.RefusedFor, 30 * time.Second},
		{&o.BackOff, 250 * time.Millisecond}, {&o.MaxBackOff, time.Minute},
	} {
		if *d.to == 0 {
			*d.to = d.is
		}
	}
	if o.Called == nil {
		o.Called = func(time.Duration, error) {}
	}
}

// Login is one user's way into one BMC; one call at a time uses it.
type Login interface {
	// Logout ends the user's session at the BMC. The next call may log in again.
	Logout(ctx context.Context) error
}

// Pool is the BMCs of one driver. A identifies a login: user, password and its other settings. Another password is
// another A, since a node with a wrong one must not cost the others their login. It is safe for concurrent use.
type Pool[A comparable, L Login] struct {
	o    Options
	open func(address string, a A) L

	mu          sync.Mutex
	controllers map[string]*controller[A, L] // by address
}

// New makes an empty pool. open makes a login without talking to the BMC.
func New[A comparable, L Login](o Options, open func(address string, a A) L) *Pool[A, L] {
	o.defaults()
	return &Pool[A, L]{o: o, open: open, controllers: map[string]*controller[A, L]{}}
}

// controller is the BMC at an address. It is kept until release.
func (p *Pool[A, L]) controller(address string) *controller[A, L] {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.controllers[address]
	if c == nil {
		c = newController(p, address)
		p.controllers[address] = c
	}
	c.calls++
	return c
}

func (p *Pool[A, L]) release(c *controller[A, L]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.calls--
}

// forget drops a BMC that has no calls, under way or waiting, and reports whether
// it did: nodes come and go, and an address must not stay for good.
func (p *Pool[A, L]) forget(c *controller[A, L]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.calls > 0 {
		return false
	}
	if p.controllers[c.address] == c { // Close may have been there
		delete(p.controllers, c.address)
	}
	return true
}

// Call runs do as the only call at a BMC. Errors begin with the driver's name, the address and the operation.
func (p *Pool[A, L]) Call(ctx context.Context, address string, a A, what string,
	do func(ctx context.Context, l L) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.o.CallTimeout)
	defer cancel()
	c := p.controller(address)
	defer p.release(c)
	if err := c.enter(ctx); err != nil {
		return fmt.Errorf("%s %s: %s: wait for the call before: %w", p.o.Driver, address, what, err)
	}
	defer c.leave()
	if err := c.call(ctx, a, do); err != nil {
		return fmt.Errorf("%s %s: %s: %w", p.o.Driver, address, what, err)
	}
	return nil
}

// closeTimeout bounds giving back all logins at the end.
const closeTimeout = 3 * time.Second

// Close gives back all logins. A BMC that does not answer keeps its sessions
// until they run out by themselves.
func (p *Pool[A, L]) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.controllers))
	clear(p.controllers)
	p.mu.Unlock()
	errs := make([]error, 0, len(all))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() {
			err := c.close(ctx)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
