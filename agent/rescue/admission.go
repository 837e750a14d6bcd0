package rescue

import (
	"net/netip"
	"sync"
)

// admission counts connections. It also counts unauthenticated ones by address, so
// that one client cannot keep all others out.
type admission struct {
	mu       sync.Mutex
	open     int
	begun    int                // open and not logged in
	starting map[netip.Addr]int // the same by address
}

// enter admits a connection, or does not.
func (a *admission) enter(from netip.Addr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open >= maxOpen || a.begun >= maxStarting || a.starting[from] >= maxPerAddress {
		return false
	}
	a.open++
	a.begun++
	a.starting[from]++
	return true
}

// started takes note that a login has ended, well or not.
func (a *admission) started(from netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun--
	if a.starting[from]--; a.starting[from] == 0 {
		delete(a.starting, from)
	}
}

// leave takes note that a connection is over.
func (a *admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
}
