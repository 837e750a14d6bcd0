package reconciler_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// powered is a host in a state, with its machine on.
func powered(s hostapi.State) func(hostapi.Host) bool {
	return func(h hostapi.Host) bool { return h.Status.Provisioning.State == s && h.Status.PoweredOn }
}

// TestSilentBMC deletes hosts with a BMC that has just fallen silent, or long ago. They are gone after four tries and
// the pauses in between, and each try is reported.
func TestSilentBMC(t *testing.T) {
	pauses := map[hostapi.State]time.Duration{hostapi.StateAvailable: 25 * time.Second,
		hostapi.StateProvisioned: 75 * time.Second}
	for _, s := range []hostapi.State{hostapi.StateRegistering, hostapi.StateAvailable, hostapi.StateProvisioned} {
		for _, since := range []time.Duration{0, time.Hour} {
			t.Run(string(s)+" "+since.String(), func(t *testing.T) {
				in(t, func(t *testing.T, w *world) {
					w.machines.silence(s == hostapi.StateRegistering)
					w.apply("a", func(h *hostapi.Host) {
						if s == hostapi.StateProvisioned {
							withImage("http://images/a")(h)
						}
					})
					w.becomes("a", s)
					if s != hostapi.StateRegistering {
						w.until("a", "on", powered(s))
					}
					w.machines.silence(true)
					time.Sleep(since)
					at := time.Now()
					w.remove("a")
					tries := w.triesOf("a")
					if took, most := time.Since(at), 3*pauses[s]+4*patience+5*time.Second; took > most {
						t.Errorf("gone after %s, want at most %s", took, most)
					}
					if want := map[bool]int{true: 4}[s != hostapi.StateRegistering]; len(tries) != want {
						t.Errorf("told of %d tries, want %d: %v", len(tries), want, tries)
					}
				})
			})
		}
	}
}

// TestFadingBMC deletes hosts with a BMC that falls silent on the way: as the machine is switched off, and as it is
// started to be cleaned. A power change that was accepted is read back until its limit of a minute before the tries
// begin.
func TestFadingBMC(t *testing.T) {
	for answers := range 9 {
		in(t, func(t *testing.T, w *world) {
			w.apply("a", withImage("http://images/a"))
			w.until("a", "on", powered(hostapi.StateProvisioned))
			w.needsRamdisk("a")
			w.machines.fade(answers)
			at := time.Now()
			w.remove("a")
			w.gone("a")
			if took := time.Since(at); took > 7*time.Minute || w.machines.fading > 0 {
				t.Errorf("after %d answers: gone after %s, with %d answers to come", answers, took, w.machines.fading)
			}
		})
	}
}

// needsRamdisk has a machine at work be cleaned in a ramdisk, which none here runs.
func (w *world) needsRamdisk(name string) {
	w.tb.Helper()
	ctx := context.Background()
	w.edit(name, annotate(hostapi.AnnotationPaused, ""))
	time.Sleep(time.Minute)
	uuid := w.node(name).UUID
	w.check(w.eng.SetMaintenance(ctx, uuid, true, ""))
	_, err := w.eng.UpdateNode(ctx, uuid, func(n *node.Node) error { n.Interfaces["deploy"] = "direct"; return nil })
	w.check(err)
	w.check(w.eng.SetMaintenance(ctx, uuid, false, ""))
	w.edit(name, unannotate(hostapi.AnnotationPaused))
	time.Sleep(time.Minute)
}

// TestLeavesShuttingDown deletes hosts with an operating system that was asked to shut down, and does not: the machine
// is switched off at once. A detached host's machine is left alone, and the host reports the work that it waits for.
func TestLeavesShuttingDown(t *testing.T) {
	for name, c := range map[string]struct {
		image, detached bool
		most            time.Duration
	}{"available": {most: 5 * time.Second}, "at work": {image: true, most: 5 * time.Second},
		"detached": {image: true, detached: true, most: 185 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				state := hostapi.StateAvailable
				w.apply("a", func(h *hostapi.Host) {
					if c.image {
						withImage("http://images/a")(h)
						state = hostapi.StateProvisioned
					}
				})
				w.until("a", "on", powered(state))
				w.machines.deafen()
				cycles := w.machines.powerCycles()
				w.edit("a", func(h *hostapi.Host) { h.Spec.Online = false })
				for w.node("a").Chore != plan.ShutDown {
					time.Sleep(100 * time.Millisecond)
				}
				if c.detached {
					w.edit("a", annotate(hostapi.AnnotationDetached, ""))
				}
				at := time.Now()
				w.remove("a")
				if c.detached {
					w.until("a", "waiting", func(h hostapi.Host) bool {
						return strings.Contains(progress(h), "waits for node default~a to shut down since ")
					})
				}
				w.gone("a")
				if took := time.Since(at); took > c.most {
					t.Errorf("gone after %s", took)
				}
				if w.machines.powerCycles() > cycles == c.detached {
					t.Errorf("switched off: %v", c.detached)
				}
			})
		})
	}
}

// progress is the message about the work that a host waits for.
func progress(h hostapi.Host) string {
	for _, c := range h.Status.Conditions {
		if c.Type == hostapi.ConditionProgressing {
			return c.Message
		}
	}
	return ""
}

var try = regexp.MustCompile(
	`no answer of the BMC; that was try \d of 4( before the host is deleted all the same, the next is at \d\d:\d\d:\d\d UTC|: the host is deleted all the same)$`)

// triesOf follows a host to its end, and collects the messages about tries that failed.
func (w *world) triesOf(name string) (told []string) {
	w.tb.Helper()
	watch, err := w.docs.Watch(objects.Filter{Kind: hostapi.KindHost, Name: name}, 0)
	if errors.Is(err, objects.ErrExpired) {
		w.tb.Fatal("the window of events is too small for this test")
	}
	seen := map[string]bool{}
	for {
		e, err := watch.Next(context.Background())
		w.check(err)
		if e.Type == objects.Deleted {
			return told
		}
		d, err := e.Document()
		w.check(err)
		h, _ := d.(*hostapi.Host)
		state := h.Status.Provisioning.State
		counted := state == hostapi.StateDeprovisioning || state == hostapi.StatePoweringOffBeforeDelete
		if m := h.Status.ErrorMessage; counted && m != "" && !seen[m] {
			seen[m] = true
			if told = append(told, m); !try.MatchString(m) {
				w.tb.Errorf("the host says %q", m)
			}
		}
	}
}

// A BMC that answers again before the last try, or slowly all the time, has its
// machine switched off.
func TestSilenceEnds(t *testing.T) {
	for name, c := range map[string]struct {
		silent, slow time.Duration
	}{"silent for a while": {200 * time.Second, 0}, "slow": {0, 11 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.apply("a", withImage("http://images/a"))
				w.until("a", "on", powered(hostapi.StateProvisioned))
				cycles := w.machines.powerCycles()
				w.machines.silence(c.silent > 0)
				w.machines.slowness(c.slow)
				w.remove("a")
				time.Sleep(c.silent)
				w.machines.silence(false)
				w.gone("a")
				if w.machines.powerCycles() == cycles {
					t.Error("the machine was not switched off")
				}
			})
		})
	}
}

// A host with wrong or missing credentials is deleted without delay.
func TestLeavesWithoutLogin(t *testing.T) {
	for name, spoil := range map[string]func(*world){
		"wrong": func(w *world) { w.secret("bmc", "wrong") },
		"gone":  func(w *world) { w.wrest("bmc") },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.apply("a", withImage("http://images/a"))
				w.until("a", "on", powered(hostapi.StateProvisioned))
				spoil(w)
				time.Sleep(time.Hour)
				at := time.Now()
				w.remove("a")
				w.gone("a")
				if took := time.Since(at); took > 4*time.Minute {
					t.Errorf("gone after %s", took)
				}
			})
		})
	}
}
