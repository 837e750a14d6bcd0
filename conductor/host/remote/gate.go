package remote

import "time"

// tryAgain is how long a leader is left alone that has just not answered. It is longer than the reconciler leaves a
// host alone that was not acted on: that host is to say why it waits before it asks again.
const tryAgain = 4 * time.Second

// gate says which calls to the leader of a group are made. While it does not answer, that is one at a time, so that
// its hosts wait in vain one at a time, and that it is found soon when it answers again. The gate has no clock.
type gate struct {
	silent  bool      // the last call was not answered
	tried   time.Time // when that was found out
	probing bool      // a call is under way that finds out whether the leader answers again
}

// admission is whether a call is made.
type admission int

const (
	refused admission = iota // the leader is silent, and asked by another call, or was just now
	free
	probe // the call that finds out: its end is for probed to be told
)

// admits reports what becomes of a call at a time, without making it.
func (g *gate) admits(now time.Time) admission {
	switch {
	case !g.silent:
		return free
	case g.probing || now.Sub(g.tried) < tryAgain:
		return refused
	default:
		return probe
	}
}

// admit makes a call, or not.
func (g *gate) admit(now time.Time) admission {
	is := g.admits(now)
	g.probing = g.probing || is == probe
	return is
}

// answered opens the gate.
func (g *gate) answered() { g.silent = false }

// failed closes it.
func (g *gate) failed(now time.Time) { g.silent, g.tried = true, now }

// probed ends a probe.
func (g *gate) probed() { g.probing = false }
