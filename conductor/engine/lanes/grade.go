package lanes

import "time"

// forgetAfter is how long it is remembered how promptly a peer answered, once no work waits for it.
const forgetAfter = time.Hour

// peer finds or makes the record of a peer.
func (l *Lanes) peer(name string) *peer {
	p := l.peers[name]
	if p == nil {
		p = &peer{waiting: map[string]*entry{}}
		l.peers[name] = p
	}
	return p
}

// gradeOf is the lane that work waits in. Until its peer is called, the record of the node decides.
func (l *Lanes) gradeOf(w *Work) Grade {
	if w.Peer == "" {
		return Prompt
	}
	if p := l.peers[w.Peer]; p != nil && p.graded {
		return p.grade
	}
	if w.Proven {
		return Prompt
	}
	return Unproven
}

// Graded notes how promptly a peer answered. Work that waits for it changes its lane.
func (l *Lanes) Graded(name string, g Grade, now time.Time) {
	if name == "" {
		return
	}
	p := l.peer(name)
	p.grade, p.graded, p.called = g, true, now
	for _, e := range p.waiting {
		if e.place < 0 && e.grade != g {
			l.lanes[e.grade].turns.drop(e.path(), e)
			l.enter(e, g)
		}
	}
}

// answered notes that a peer answered, of which it is not known how promptly.
func (l *Lanes) answered(name string, now time.Time) {
	switch g, known := l.GradeOf(name); {
	case !known:
		l.Graded(name, Prompt, now)
	case g == Silent:
		l.Graded(name, Slow, now)
	}
}

// GradeOf is the grade of a peer; false before it is called for the first time.
func (l *Lanes) GradeOf(name string) (Grade, bool) {
	p := l.peers[name]
	if p == nil || !p.graded {
		return Prompt, false
	}
	return p.grade, true
}

// Sweep forgets peers that no work waits for, and that were not called for an hour.
func (l *Lanes) Sweep(now time.Time) {
	for name, p := range l.peers {
		if len(p.waiting) == 0 && now.Sub(p.called) > forgetAfter {
			delete(l.peers, name)
		}
	}
}
