package dhcp

import (
	"container/heap"
	"math/bits"
	"net/netip"
	"time"
)

// stock holds the addresses of one subnet's pool in the order of allocation. A bitmap finds the lowest free address,
// and heaps find the lease that ends first, so no operation walks over all leases.
type stock struct {
	Subnet
	free *bitmap // neither held nor remembered nor set aside

	// Leases for a time, of addresses that nothing else sets aside. age moves them once they ran out.
	strangers, offers, enrolled queue // running; offers are strangers' that have not been requested
	strangersOver, enrolledOver queue // that ran out

	owned    map[string]int           // enrolled, by the project that owns the machine
	declined int                      // addresses set aside on machines' words
	aside    int                      // of these on strangers'
	probed   map[netip.Addr]time.Time // when a probe got no answer; see probes
}

func newStock(s Subnet) *stock {
	n := 0
	if s.First.IsValid() {
		n = int(number(s.Last)-number(s.First)) + 1
	}
	return &stock{Subnet: s, free: newBitmap(n), probed: map[netip.Addr]time.Time{}, owned: map[string]int{}}
}

// lapse moves the leases that ran out.
func (st *stock) lapse(now time.Time) {
	for _, move := range []struct{ from, to *queue }{{&st.strangers, &st.strangersOver}, {&st.offers, &st.strangersOver},
		{&st.enrolled, &st.enrolledOver}} {
		for len(*move.from) > 0 && !(*move.from)[0].live(now) {
			e := (*move.from)[0]
			e.leave()
			e.enter(move.to)
		}
	}
}

// half is as many addresses as strangers may have.
func (st *stock) half() int { return max(1, st.free.size/2) }

// left is how many addresses no lease holds.
func (st *stock) left() int {
	return st.free.size - len(st.strangers) - len(st.offers) - len(st.enrolled) - st.declined
}

// mayDecline reports whether one more address may be set aside because of a DECLINE: up to a quarter of a pool.
// Declines may come from one project's machines, or be forged.
func (st *stock) mayDecline() bool {
	return st == nil || st.declined < max(maxDeclines, st.free.size/4)
}

// setAside counts an address that a machine has declined; nil is no pool.
func (st *stock) setAside(r refusal, by int) {
	if st == nil || r.by == (hwaddr{}) {
		return
	}
	st.declined += by
	if r.strangers {
		st.aside += by
	}
}

// lowest is the lowest free address, of the first of them that were probed if there are such.
func (st *stock) lowest(probing bool, now time.Time) (found netip.Addr, ok bool) {
	for i, seen := st.free.next(0), 0; i >= 0 && seen < probedAhead; i, seen = st.free.next(i+1), seen+1 {
		a := st.address(i)
		if !probing || len(st.probed) == 0 || st.fresh(a, now) {
			return a, true
		}
		if seen == 0 {
			found, ok = a, true
		}
	}
	return found, ok
}

func (st *stock) address(i int) netip.Addr { return fromNumber(number(st.First) + uint32(i)) }

func (st *stock) index(a netip.Addr) int { return int(number(a) - number(st.First)) }

// queue is leases in the order of their end, as a heap.
type queue []*entry

// Len is how many there are.
func (q queue) Len() int { return len(q) }

// Less compares two.
func (q queue) Less(i, j int) bool {
	if !q[i].expires.Equal(q[j].expires) {
		return q[i].expires.Before(q[j].expires)
	}
	return q[i].ip.Less(q[j].ip)
}

// Swap exchanges two.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

// Push adds an entry.
func (q *queue) Push(e any) {
	one := e.(*entry) //nolint:forcetypeassert // of enter alone
	one.at = len(*q)
	*q = append(*q, one)
}

// Pop takes the last one out.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}

func (e *entry) enter(q *queue) {
	e.in = q
	heap.Push(q, e)
}

func (e *entry) leave() {
	if e.in != nil {
		heap.Remove(e.in, e.at)
		e.in = nil
	}
	e.count(e.owner, nil)
}

// count has the lease count for an owner among those in; nil: for none.
func (e *entry) count(owner string, in map[string]int) {
	if e.counted != nil {
		if e.counted[e.owner]--; e.counted[e.owner] == 0 {
			delete(e.counted, e.owner)
		}
	}
	if e.owner, e.counted = owner, in; in != nil {
		in[owner]++
	}
}

// bitmap is a set of small numbers that finds its lowest one quickly.
type bitmap struct {
	words []uint64
	size  int
	low   int // no word before this one has a bit
}

func newBitmap(size int) *bitmap { return &bitmap{words: make([]uint64, (size+63)/64), size: size} }

func (b *bitmap) set(i int, in bool) {
	if !in {
		b.words[i/64] &^= 1 << (i % 64)
		return
	}
	b.words[i/64] |= 1 << (i % 64)
	b.low = min(b.low, i/64)
}

func (b *bitmap) has(i int) bool { return b.words[i/64]&(1<<(i%64)) != 0 }

// next is the lowest number from i on; -1 when there is none.
func (b *bitmap) next(i int) int {
	for b.low < len(b.words) && b.words[b.low] == 0 {
		b.low++
	}
	if i < b.low*64 {
		i = b.low * 64
	}
	for w := i / 64; w < len(b.words); w++ {
		word := b.words[w]
		if w == i/64 {
			word &= ^uint64(0) << (i % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
