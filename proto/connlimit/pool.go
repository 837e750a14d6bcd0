package connlimit

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// few is how many places anybody may have before others come first.
	few = 8
	// stalled is how long a peer may take nothing of an answer before its place
	// can be given away, and stalledMany how long one of a network that holds
	// more than manyTimes as much as the newcomer's.
	stalled     = 15 * time.Second
	stalledMany = 2 * time.Second
	manyTimes   = 4
	// kept is the part of the places that those with few keep for themselves: agents and operators get through when
	// all others are taken by requests under way, of which none can be ended.
	kept = 16
	// queued is the part of the places that as many may wait for at a time.
	queued = 2
	// lingering is how long a request that has been handled takes to be answered.
	lingering = time.Second
	// look is how often a newcomer looks for a place that no one has given back:
	// a peer stalls without an event.
	look = 100 * time.Millisecond
)

// pool is a number of places. A newcomer without a free place takes the place of an idle connection, which waits for
// its peer. Connections without a right token or password go first. Among these the network that holds most loses one;
// within it the host that holds most; and of its connections the longest idle one.
type pool struct {
	total int           // places
	each  int           // of one host, which has no more even if there is room
	wait  time.Duration // how long one of a host that has its share waits for it
	spare int           // places beyond total, for the loopback alone
	began time.Time
	freed chan struct{} // holds a token when a place may be free

	proxies Proxies // addresses without a share of their own; nil for none

	mu       sync.Mutex
	held     map[*ticket]struct{}
	hosts    map[netip.Addr]int   // tickets of each with a place
	networks map[netip.Addr]int   // with or without one
	waiting  map[*ticket]struct{} // for a place
	turn     uint64
	refusals int // connections that are open for an answer of 503
}

func newPool(total, each int) *pool {
	return &pool{
		total: total, each: each, spare: total / 32, began: time.Now(), freed: make(chan struct{}, 1),
		held: map[*ticket]struct{}{}, waiting: map[*ticket]struct{}{},
		hosts: map[netip.Addr]int{}, networks: map[netip.Addr]int{},
	}
}

// clock is the time since the pool was made, never 0.
func (p *pool) clock() time.Duration { return time.Since(p.began) + 1 }

// enter makes a ticket, without a place yet. end ends the ticket's connection or request, and is called when another
// gets its place.
func (p *pool) enter(from netip.Addr, end func()) *ticket {
	t := &ticket{pool: p, end: end, entered: p.clock()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(t, from)
	return t
}

// maxRefusals bounds the connections that are answered 503, and refusalTime how long each may take.
const (
	maxRefusals = 32
	refusalTime = 3 * time.Second
)

// refuse takes the place of t away, if it has one, and counts t among the refused that get an answer; false when these
// are many.
func (p *pool) refuse(t *ticket) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(t)
	if p.refusals >= maxRefusals {
		return false
	}
	p.refusals++
	t.gone, t.refused = false, true
	return true
}

// withinShare reports whether a host may have one more place. It may if own, one of its own, ends.
func (p *pool) withinShare(host netip.Addr) (own *ticket, ok bool) {
	if p.hosts[host] < p.each || p.trusts(host) {
		return nil, true
	}
	if own = p.ownVictim(host); own == nil {
		return nil, false
	}
	p.remove(own)
	return own, true
}

// trusts reports whether a host speaks for others.
func (p *pool) trusts(host netip.Addr) bool { return p.proxies != nil && p.proxies.Trusts(host) }

// move counts t for another host from now on. When that has its share, nothing changes.
func (p *pool) move(t *ticket, host netip.Addr) (ok bool) {
	p.mu.Lock()
	if t.gone || t.host == host {
		p.mu.Unlock()
		return true
	}
	own, ok := p.withinShare(host)
	if ok {
		p.uncount(t)
		p.count(t, host)
	}
	p.mu.Unlock()
	if own != nil {
		own.end()
	}
	return ok
}

func (p *pool) count(t *ticket, host netip.Addr) {
	t.host, t.network = host, Network(host)
	p.networks[t.network]++
	if _, placed := p.held[t]; placed {
		p.hosts[t.host]++
	}
}

func (p *pool) uncount(t *ticket) {
	if p.networks[t.network]--; p.networks[t.network] == 0 {
		delete(p.networks, t.network)
	}
	if _, placed := p.held[t]; !placed {
		return
	}
	if p.hosts[t.host]--; p.hosts[t.host] == 0 {
		delete(p.hosts, t.host)
	}
}

// ownVictim finds the connection of a host that gives way to a newcomer of the same host. Many machines can be behind
// one address, and a silent one must not keep the others out. Where newcomers can wait, a connection gets a moment to
// send its request, which may be on its way.
func (p *pool) ownVictim(host netip.Addr) *ticket {
	var most *ticket
	now := p.clock()
	for t := range p.held {
		if t.host == host && t.waits(now, true) && (!t.idle || now-t.idleFrom >= min(p.wait, lingering)) &&
			(most == nil || p.before(t, most)) {
			most = t
		}
	}
	return most
}

// queue has t wait for a place. When too many wait, out gives way, perhaps t itself: no client's newcomers may keep
// others from free places.
func (p *pool) queue(t *ticket) (out *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[t] = struct{}{}
	if len(p.waiting) <= max(1, p.total/queued) {
		return nil
	}
	for other := range p.waiting {
		if out == nil || p.before(other, out) {
			out = other
		}
	}
	p.remove(out)
	return out
}

// place gives t a place; false when stop is closed before there is one, t has given way to others that wait, or its
// host has had its share for too long.
func (p *pool) place(t *ticket, stop <-chan struct{}) bool {
	var again *time.Timer
	for {
		if p.now(t) {
			return true
		}
		if t.lost() {
			return false
		}
		if again == nil {
			again = time.NewTimer(look)
			defer again.Stop()
		} else {
			again.Reset(look)
		}
		select {
		case <-p.freed:
		case <-again.C:
		case <-stop:
			t.leave()
			return false
		}
	}
}

// now gives t a free place, or the place of another that can lose it.
func (p *pool) now(t *ticket) bool {
	for {
		ok, victim := p.try(t)
		if victim == nil {
			return ok
		}
		victim.end()
	}
}

// try gives t a place if there is one, and otherwise takes one from a victim,
// which the caller has to end.
func (p *pool) try(t *ticket) (ok bool, victim *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	room := p.total
	if p.weight(t) > few {
		room -= p.total / kept
	}
	if t.host.IsLoopback() && !p.trusts(t.host) {
		room += p.spare
	}
	if t.gone {
		return false, nil
	}
	switch own, ok := p.withinShare(t.host); {
	case own != nil:
		return false, own
	case !ok:
		if t.full = p.clock()-t.entered >= p.wait; t.full {
			p.remove(t)
		}
		return false, nil
	}
	if len(p.held) < room {
		delete(p.waiting, t)
		p.held[t] = struct{}{}
		p.hosts[t.host]++
		t.markIdle()
		return true, nil
	}
	if victim = p.victim(t); victim != nil {
		p.remove(victim)
	}
	return false, victim
}

// victim finds the ticket that gives way to a newcomer; nil for none.
func (p *pool) victim(newcomer *ticket) *ticket {
	mine, now := p.weight(newcomer), p.clock()
	var most *ticket
	for t := range p.held {
		theirs := p.weight(t)
		switch {
		case theirs < mine && mine > few:
		case t.network == newcomer.network && mine > few && p.hosts[t.host] <= p.hosts[newcomer.host]:
		case !t.waits(now, theirs > manyTimes*mine):
		case most == nil || p.before(t, most):
			most = t
		}
	}
	return most
}

// weight is how many places the network of t has. A proxy's places belong to its many clients, which count one each.
func (p *pool) weight(t *ticket) int {
	if p.trusts(t.host) {
		return 1
	}
	return p.networks[t.network]
}

// before reports whether a loses its place rather than b. Strangers' go first, then proxies', which keep them
// for their next clients, and known clients' last.
func (p *pool) before(a, b *ticket) bool {
	if a.known != b.known {
		return b.known
	}
	if x, y := p.trusts(a.host), p.trusts(b.host); x != y {
		return y
	}
	if x, y := p.networks[a.network], p.networks[b.network]; x != y {
		return x > y
	}
	if x, y := p.hosts[a.host], p.hosts[b.host]; x != y {
		return x > y
	}
	return a.since < b.since
}

// remove takes a ticket out; its place can be taken by another.
func (p *pool) remove(t *ticket) {
	if t.gone {
		return
	}
	t.gone = true
	if t.refused {
		p.refusals--
		return
	}
	p.uncount(t)
	delete(p.held, t)
	delete(p.waiting, t)
	p.wake()
}

// wake wakes the goroutine that looks for a place.
func (p *pool) wake() {
	select {
	case p.freed <- struct{}{}:
	default: // a token is there already
	}
}
