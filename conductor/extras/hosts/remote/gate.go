package remote

import "time"

// tryAgain is the pause before the next call to a leader that has not answered. It is longer than the reconciler's
// pause after a failed act: the host must report the reason for its wait before it asks again.
const tryAgain = 4 * time.Second

// probeTime is how long the other calls are refused because of a probe. A probe that takes longer asks a BMC, Neutron
// or a server of images, and does not show whether the leader answers.
const probeTime = actTime

// gate admits calls to the leader of a group. While that does not answer, it admits one call at a time: only one host
// waits in vain, and an answer is noticed soon. The gate has no clock.
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
	probe // the call that finds out: probed must be called at its end
)

// probing reports whether the end of a probe is awaited.
func (g *gate) probing(now time.Time) bool { return !g.probe.IsZero() && now.Sub(g.probe) < probeTime }

// admits reports whether a call is admitted at a time, without making it.
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
