package reconciler

import (
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/host"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// room is who waits until fewer nodes are busy, and who is just about to make
// one more so.
type room struct {
	mu       sync.Mutex
	starting int
	waiting  []key // in the order in which they came
}

// busy is how many nodes are inspected, cleaned, deployed or deleted.
func (r *Reconciler) busy() (n int) {
	for state, count := range r.engine.CountByState() {
		if host.BusyStates[state] {
			n += count
		}
	}
	return n
}

// admit lets a decision through, or has it made again as one that has to wait:
// several hosts may have seen the same room. leave is to be called once the
// decision has been carried out. What it was made by is in s.
func (r *Reconciler) admit(s *host.Facts, d host.Decision) (admitted host.Decision, leave func()) {
	if r.ProvisioningLimit <= 0 || !d.Occupies() || host.BusyStates[s.Node.ProvisionState] {
		return d, func() {}
	}
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	if s.BusyNodes = r.busy() + r.room.starting; s.BusyNodes >= r.ProvisioningLimit {
		return host.Decide(*s), func() {}
	}
	r.room.starting++
	return d, func() {
		r.room.mu.Lock()
		r.room.starting--
		r.room.mu.Unlock()
		r.queue.wakeUp()
	}
}

// delayed takes note of whether a host waits. One that does although there is room
// has other reasons, and would be looked at for ever.
func (m *room) delayed(k key, s host.Facts, is hostapi.HostStatus) {
	waits := is.OperationalStatus == hostapi.StatusDelayed && s.BusyNodes >= s.ProvisioningLimit
	m.mu.Lock()
	defer m.mu.Unlock()
	switch at := slices.Index(m.waiting, k); {
	case waits && at < 0:
		m.waiting = append(m.waiting, k)
	case !waits && at >= 0:
		m.waiting = slices.Delete(m.waiting, at, at+1)
	}
}

// admitDelayed has as many of those that wait looked at as there is room for.
func (r *Reconciler) admitDelayed() {
	r.room.mu.Lock()
	free := 0
	if len(r.room.waiting) > 0 {
		free = max(0, r.ProvisioningLimit-r.busy()-r.room.starting)
	}
	next := slices.Clone(r.room.waiting[:min(free, len(r.room.waiting))])
	r.room.waiting = r.room.waiting[len(next):]
	r.room.mu.Unlock()
	r.soon(next...)
}
