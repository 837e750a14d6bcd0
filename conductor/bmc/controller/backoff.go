package controller

import (
	"context"
	"fmt"
	"time"
)

// backOff is the time for which a failing BMC gets no calls.
type backOff struct {
	first, most time.Duration

	failures int       // in a row
	last     error     // the newest of them
	until    time.Time // when the BMC may be asked again
}

// patience is the longest pause that a caller waits out; it gets an error for longer ones at
// once.
const patience = 2 * time.Second

// wait lets the BMC alone for as long as it needs.
func (b *backOff) wait(ctx context.Context) error {
	wait := time.Until(b.until)
	switch {
	case wait <= 0:
		return nil
	case wait > patience:
		return fmt.Errorf("not asked for another %s, after failures in a row: %d; the last: %w",
			wait.Round(time.Second), b.failures, b.last)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w while the BMC was let alone after: %w", ctx.Err(), b.last)
	}
}

func (b *backOff) failed(err error) {
	wait := min(b.first<<min(b.failures, 20), b.most)
	b.failures++
	b.last, b.until = err, time.Now().Add(wait)
}

func (b *backOff) succeeded() { b.failures, b.last, b.until = 0, nil, time.Time{} }
