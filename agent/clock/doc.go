// Package clock decides whether this machine's clocks are wrong, and sets them: the system's, and the battery-backed
// one (RTC), which is kept in UTC. A new machine may be years off, and then no certificate is valid.
//
// The only source is the answer of a conductor with a pinned certificate: verifying that needs no clock. Decide is
// pure; Keeper has the effects.
package clock

import "time"

// Limits of a clock's error.
const (
	// systemError is by how much the system's clock may be wrong: HTTP dates are full
	// seconds, and an answer may be slow.
	systemError = 5 * time.Second
	// rtcError is the same of the RTC, which is written rarely.
	rtcError = time.Minute
)

// Reading is everything that is known of the time. Zero times are unknown.
type Reading struct {
	System    time.Time
	RTC       time.Time
	Conductor time.Time // of its answer
	Pinned    bool      // the answer came over TLS, by a certificate that the kernel line pins
	Built     time.Time // this ramdisk is not older
}

// Decision is the clocks to set; zero times are left as they are.
type Decision struct {
	System, RTC time.Time
	Why         string // for the log; "" when there is nothing to say
}

// Decide says which clocks to set.
func Decide(r Reading) Decision {
	refused := ""
	switch {
	case r.Conductor.IsZero():
	case !r.Pinned:
		refused = "its answer could be anybody's: the kernel line pins no certificate (ferrite-api-sha256)"
	case r.Conductor.Before(r.Built):
		refused = "it is before this ramdisk was built, on " + r.Built.UTC().Format(time.DateOnly) +
			": set the conductor's clock"
	default:
		return byConductor(r)
	}
	d := Decision{}
	if refused != "" && far(r.System, r.Conductor, rtcError) {
		d.Why = "the conductor's time is not taken, since " + refused
	}
	if r.System.Before(r.Built) {
		d.System = r.Built
		why := "the clock is before this ramdisk was built"
		if d.Why != "" {
			why += "; " + d.Why
		}
		d.Why = why
	}
	return d
}

// byConductor sets the clocks that differ from the conductor's.
func byConductor(r Reading) Decision {
	d := Decision{}
	if far(r.System, r.Conductor, systemError) {
		d.System, d.Why = r.Conductor, "the conductor has another time"
	}
	if !r.RTC.IsZero() && far(r.RTC, r.Conductor, rtcError) {
		d.RTC, d.Why = r.Conductor, "the conductor has another time"
	}
	return d
}

func far(a, b time.Time, most time.Duration) bool { return a.Sub(b).Abs() > most }
