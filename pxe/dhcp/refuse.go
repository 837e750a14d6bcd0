package dhcp

import "time"

// refusal sets an address aside, because another host uses it.
type refusal struct {
	until     time.Time
	by        hwaddr // the machine that declined it; zero: the pool found out itself
	strangers bool   // it was a stranger's
	owner     hwaddr // the machine that answers there, which may have it all the same; zero: none that is known
}

// against reports whether the refusal keeps an address from a machine.
func (r refusal) against(hw hwaddr, now time.Time) bool { return r.until.After(now) && r.owner != hw }

// refuse sets an address aside.
func (p *Pool) refuse(at place, r refusal) {
	p.readmit(at)
	p.refused[at] = r
	p.declines[r.by]++
	p.stockOf(at).setAside(r, 1)
	if p.due.IsZero() || r.until.Before(p.due) {
		p.due = r.until
	}
	p.reindex(at)
}

// readmit ends the refusal of an address.
func (p *Pool) readmit(at place) {
	r, was := p.refused[at]
	if !was {
		return
	}
	delete(p.refused, at)
	if p.declines[r.by]--; p.declines[r.by] == 0 {
		delete(p.declines, r.by)
	}
	p.stockOf(at).setAside(r, -1)
	p.reindex(at)
}

// age ends the leases that ran out, and the refusals that are over.
func (p *Pool) age(st *stock, now time.Time) {
	p.ageRefusals(now)
	st.lapse(now)
}

// ageRefusals looks through the refusals once a second at most, and only when one is over.
func (p *Pool) ageRefusals(now time.Time) {
	if p.due.IsZero() || p.due.After(now) {
		return
	}
	p.due = time.Time{}
	for at, r := range p.refused {
		if !r.until.After(now) {
			p.readmit(at)
		} else if p.due.IsZero() || r.until.Before(p.due) {
			p.due = r.until
		}
	}
	if soon := now.Add(time.Second); !p.due.IsZero() && p.due.Before(soon) {
		p.due = soon
	}
}

// reindex puts an address into the right set of its stock: a queue of leases, the free addresses, or none.
func (p *Pool) reindex(at place) {
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
		e.count(e.owner, st.owned)
	case e.bound:
		e.enter(&st.strangers)
	default:
		e.enter(&st.offers)
	}
}

// stockOf finds the stock that an address belongs to; nil where it is of no pool.
func (p *Pool) stockOf(at place) *stock {
	for _, st := range p.stocks {
		if st.pools(at) {
			return st
		}
	}
	return nil
}
