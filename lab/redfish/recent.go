package redfish

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"
)

// Delays is how long passing deviations last; zero fields take the times of real controllers.
type Delays struct {
	Answer   time.Duration // slow-answers, each; 3 s
	Power    time.Duration // power-in-steps; 5 s
	Busy     time.Duration // busy-after-power-off, busy-after-reset; 10 s
	POST     time.Duration // boot-locked-in-post; 60 s
	NotReady time.Duration // not-ready; 20 s
	Eject    time.Duration // slow-eject; 5 s
}

func (d Delays) complete() Delays {
	return Delays{
		Answer: cmp.Or(d.Answer, 3*time.Second), Power: cmp.Or(d.Power, 5*time.Second),
		Busy: cmp.Or(d.Busy, 10*time.Second), POST: cmp.Or(d.POST, time.Minute),
		NotReady: cmp.Or(d.NotReady, 20*time.Second), Eject: cmp.Or(d.Eject, 5*time.Second),
	}
}

// happening is an event with a lasting effect.
type happening int

const (
	machineStarted happening = iota
	machineStopped
	buttonPressed
	mediaEjected
)

// recent remembers when things happened last.
type recent struct {
	now func() time.Time

	mu      sync.Mutex
	at      map[happening]time.Time
	ejected string // the image that mediaEjected is about

	requests atomic.Int64
}

func newRecent(now func() time.Time) *recent { return &recent{now: now, at: map[happening]time.Time{}} }

func (r *recent) mark(h happening) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at[h] = r.now()
}

// within reports whether h happened less than d ago.
func (r *recent) within(h happening, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.at[h]
	return ok && r.now().Sub(at) < d
}

// eject remembers the image that leaves the drive.
func (r *recent) eject(image string) {
	r.mark(mediaEjected)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ejected = image
}

// leaving is the image that was ejected last.
func (r *recent) leaving() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ejected
}
