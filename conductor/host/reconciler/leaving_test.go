package reconciler_test

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

func TestMeasure(t *testing.T) {
	for _, s := range []hostapi.State{hostapi.StateRegistering, hostapi.StateAvailable, hostapi.StateProvisioned} {
		for _, late := range []time.Duration{0, time.Hour} {
			in(t, func(t *testing.T, w *world) {
				if s == hostapi.StateRegistering {
					w.machines.silence(true)
				}
				w.apply("a", func(h *hostapi.Host) {
					if s == hostapi.StateProvisioned {
						withImage("http://images/a")(h)
					}
				})
				w.becomes("a", s)
				if s != hostapi.StateRegistering {
					w.until("a", "on", func(h hostapi.Host) bool { return h.Status.PoweredOn })
				}
				w.machines.silence(true)
				time.Sleep(late)
				at := time.Now()
				w.remove("a")
				w.gone("a")
				t.Logf("%s %s: %s", s, late, time.Since(at))
			})
		}
	}
}
