// Package redfish drives BMCs that speak DMTF's Redfish (DSP0266), by gofish.
//
// BMCs are small computers that lose their way under load, so a BMC sees one
// session per user and one request at a time, is let alone for a while after
// failures, and every call ends by a deadline. Each is traced at debug level.
//
// It must not decide what to do with a machine, nor let a password or a token
// into an error or a log.
package redfish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/stmcginnis/gofish"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Options are how a Driver behaves; zero fields mean the defaults.
type Options struct {
	Log            *slog.Logger
	RequestTimeout time.Duration // bounds each request, 15 s
	CallTimeout    time.Duration // bounds each call, however many requests it takes, 60 s
	IdleTimeout    time.Duration // after which a session is given back, 5 min
	RefusedFor     time.Duration // how long refused credentials are not tried again, 30 s
	BackOff        time.Duration // the first pause after a failure, doubled with each, 250 ms
	MaxBackOff     time.Duration // 60 s
	StepPatience   time.Duration // how long a step waits while nothing goes on, 20 min
}

func (o *Options) defaults() {
	for _, d := range []struct {
		to *time.Duration
		is time.Duration
	}{
		{&o.RequestTimeout, 15 * time.Second}, {&o.CallTimeout, time.Minute},
		{&o.IdleTimeout, 5 * time.Minute}, {&o.RefusedFor, 30 * time.Second},
		{&o.BackOff, 250 * time.Millisecond}, {&o.MaxBackOff, time.Minute},
		{&o.StepPatience, 20 * time.Minute},
	} {
		if *d.to == 0 {
			*d.to = d.is
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Driver drives every Redfish BMC; it is safe for concurrent use.
type Driver struct {
	o Options

	mu          sync.Mutex
	controllers map[string]*controller // by scheme, host and port
}

// New makes a driver that has talked to nobody yet.
func New(o Options) *Driver {
	o.defaults()
	return &Driver{o: o, controllers: map[string]*controller{}}
}

// Validate says what is missing or wrong in driver_info.
func (d *Driver) Validate(n node.Node) error {
	_, err := parse(n)
	return err
}

func (d *Driver) controller(base string) *controller {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.controllers[base]
	if c == nil {
		c = newController(&d.o, base)
		d.controllers[base] = c
	}
	return c
}

// call does something with the BMC of n while nobody else does. what says it
// for errors.
func (d *Driver) call(ctx context.Context, n node.Node, what string, do func(s *session) error) error {
	t, err := parse(n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.o.CallTimeout)
	defer cancel()
	c := d.controller(t.base)
	if err := c.enter(ctx); err != nil {
		return fmt.Errorf("redfish %s: %s: wait for the call before: %w", t.base, what, err)
	}
	defer c.leave()
	if err := c.call(ctx, &t, do); err != nil {
		return fmt.Errorf("redfish %s: %s: %w", t.base, what, describe(err))
	}
	return nil
}

// session is what a call has to work with: a client that is let in, and the
// system it is about.
type session struct {
	client *gofish.APIClient
	system *string // path, "" while not known
	log    *slog.Logger
}

// closeTimeout bounds giving back all sessions at the end.
const closeTimeout = 3 * time.Second

// Close gives back all sessions. A BMC that does not answer keeps its session
// until that runs out by itself.
func (d *Driver) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	errs := make([]error, 0, len(d.controllers))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, c := range d.controllers {
		wg.Go(func() {
			err := c.close(ctx)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	wg.Wait()
	d.controllers = map[string]*controller{}
	return errors.Join(errs...)
}
