package remote

import "time"

// tryAgain is how long a leader is left alone that has just not answered. It is longer than the reconciler leaves a
// host alone that was not acted on: that host is to say why it waits before it asks again.
const tryAgain = 4 * time.Second

// probeTime is how long the other calls are refused for the sake of a probe. One that takes longer asks a BMC, Neutron
// or a server of images, and says nothing of the leader meanwhile.
const probeTime = actTime

// gate says which calls to the leader of a group are made. While it does not answer, that is one at a time, so that
// its hosts wait in vain one at a time, and that it is found soon when it answers again. The gate has no clock.
type gate struct {
	silent bool      // the last call was not answered
	tried  time.Time // when that was found out
	probe  time.Time // when the call began that finds out whether the leader answers again; zero for none
}

// admission is whether a call is made.
type admission int

const (
	refused admission = iota // the leader is silent, and asked by another call, or was just now
	free
	probe // the call that finds out: its end is for probed to be told
)

// probing reports whether the end of a probe is awaited.
func (g *gate) probing(now time.Time) bool { return !g.probe.IsZero() && now.Sub(g.probe) < probeTime }

// admits reports what becomes of a call at a time, without making it.
func (g *gate) admits(now time.Time) admission {
	switch {
	case !g.silent:
		return free
	case g.probing(now) || now.Sub(g.tried) < tryAgain:
		return refused
	default:
		return probe
	}
}

// admit makes a call, or not.
func (g *gate) admit(now time.Time) admission {
	is := g.admits(now)
	if is == probe {
		g.probe = now
	}
	return is
}

// answered opens the gate.
func (g *gate) answered() { *g = gate{} }

// failed closes it.
func (g *gate) failed(now time.Time) { g.silent, g.tried = true, now }

// probed ends the probe that began then, unless it was too slow, and another one has begun.
func (g *gate) probed(began time.Time) {
	if g.probe.Equal(began) {
		g.probe = time.Time{}
	}
}
