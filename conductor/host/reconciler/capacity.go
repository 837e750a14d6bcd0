package reconciler

import (
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/host"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// capacity is who waits until fewer nodes are busy, and who is just about to make
// one more so.
type capacity struct {
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

// ensureCapacity lets a decision through, or has it made again as one that has to wait:
// several hosts may have seen the same room. leave is to be called once the
// decision has been carried out. The facts are those of the admitted decision.
func (r *Reconciler) ensureCapacity(facts *host.Facts, d host.Decision) (admitted host.Decision, release func()) {
	if r.ProvisioningLimit <= 0 || !d.Occupies() || host.BusyStates[facts.Node.ProvisionState] {
		return d, func() {}
	}
	r.capacity.mu.Lock()
	defer r.capacity.mu.Unlock()
	if facts.BusyNodes = r.busy() + r.capacity.starting; facts.BusyNodes >= r.ProvisioningLimit {
		return host.Decide(*facts), func() {}
	}
	r.capacity.starting++
	return d, func() {
		r.capacity.mu.Lock()
		r.capacity.starting--
		r.capacity.mu.Unlock()
		r.queue.wakeUp()
	}
}

// delayed records whether a host waits for capacity. A host that is delayed although
// there is capacity has other reasons, and would be reconciled for ever.
func (m *capacity) delayed(k key, facts host.Facts, is hostapi.HostStatus) {
	waits := is.OperationalStatus == hostapi.StatusDelayed && facts.BusyNodes >= facts.ProvisioningLimit
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
	r.capacity.mu.Lock()
	free := 0
	if len(r.capacity.waiting) > 0 {
		free = max(0, r.ProvisioningLimit-r.busy()-r.capacity.starting)
	}
	next := slices.Clone(r.capacity.waiting[:min(free, len(r.capacity.waiting))])
	r.capacity.waiting = r.capacity.waiting[len(next):]
	r.capacity.mu.Unlock()
	r.enqueue(next...)
}
