package dhcp

import (
	"container/heap"
	"time"
)

// refusal sets an address aside: it is in use, by whomever.
type refusal struct {
	until     time.Time
	by        hwaddr // the machine that declined it; zero: the pool found out itself
	strangers bool   // it was a stranger's
	owner     hwaddr // the machine that answers there, which may have it all the same; zero: none that is known
}

// against reports whether the refusal keeps an address from a machine.
func (r refusal) against(hw hwaddr, now time.Time) bool { return r.until.After(now) && r.owner != hw }

// asideUntil is the refusals in the order of their end, as a heap. Those that were replaced stay until then.
type asideUntil []struct {
	place
	until time.Time
}

// Len is how many there are.
func (a asideUntil) Len() int { return len(a) }

// Less compares two.
func (a asideUntil) Less(i, j int) bool { return a[i].until.Before(a[j].until) }

// Swap exchanges two.
func (a asideUntil) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push adds one.
func (a *asideUntil) Push(one any) {
	*a = append(*a, one.(struct { //nolint:forcetypeassert // of refuse alone
		place
		until time.Time
	}))
}

// Pop takes the last one out.
func (a *asideUntil) Pop() any {
	last := len(*a) - 1
	one := (*a)[last]
	*a = (*a)[:last]
	return one
}

// refuse sets an address aside.
func (p *Pool) refuse(at place, r refusal) {
	p.readmit(at)
	p.refused[at] = r
	p.declines[r.by]++
	if st := p.stockOf(at); st != nil && r.strangers {
		st.aside++
	}
	heap.Push(&p.aside, struct {
		place
		until time.Time
	}{at, r.until})
	p.file(at)
}

// readmit ends what was said of an address.
func (p *Pool) readmit(at place) {
	r, was := p.refused[at]
	if !was {
		return
	}
	delete(p.refused, at)
	if p.declines[r.by]--; p.declines[r.by] == 0 {
		delete(p.declines, r.by)
	}
	if st := p.stockOf(at); st != nil && r.strangers {
		st.aside--
	}
	p.file(at)
}

// age takes note of the time: of leases that ran out, and of addresses that were set aside long enough.
func (p *Pool) age(st *stock, now time.Time) {
	p.ageRefusals(now)
	st.lapse(now)
}

func (p *Pool) ageRefusals(now time.Time) {
	for len(p.aside) > 0 && !p.aside[0].until.After(now) {
		at := p.aside[0].place
		heap.Pop(&p.aside)
		if r, is := p.refused[at]; is && !r.until.After(now) {
			p.readmit(at)
		}
	}
}

// file puts an address where its stock looks for it: with the leases in the order of their end, with the free ones, or
// nowhere.
func (p *Pool) file(at place) {
	hw, held := p.holder[at]
	e := p.entries[hw]
	if held {
		e.leave()
	}
	st := p.stockOf(at)
	if st == nil {
		return
	}
	_, refused := p.refused[at]
	kept := refused || p.taken[at.ip]
	st.free.set(st.index(at.ip), !held && !kept)
	if held || kept {
		delete(st.probed, at.ip)
	}
	switch {
	case !held || kept || e.static:
	case !e.stranger:
		e.enter(&st.enrolled)
	case e.bound:
		e.enter(&st.strangers)
	default:
		e.enter(&st.offers)
	}
}

// stockOf finds the stock that an address belongs to; nil where it is of no pool.
func (p *Pool) stockOf(at place) *stock {
	for _, st := range p.stocks {
		if st.lends(at) {
			return st
		}
	}
	return nil
}
