package reconciler_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// free waits until a secret is gone.
func (w *world) free(name string) {
	w.tb.Helper()
	for range 10_000 {
		if _, there := w.find(name); !there {
			return
		}
		time.Sleep(time.Second)
	}
	s, _ := w.find(name)
	w.tb.Errorf("the secret %s never goes: %+v", name, s.ObjectMeta)
}

// stays sees that a secret is there, deleted or not, with all that is in it.
func (w *world) stays(name string) {
	w.tb.Helper()
	time.Sleep(time.Hour)
	if s, there := w.find(name); !there || string(s.Data["password"]) != "right" ||
		!slices.Contains(s.Finalizers, hostapi.SecretFinalizer) {
		w.tb.Errorf("the secret %s is there %v, and of use no more: %+v", name, there, s.ObjectMeta)
	}
}

// A secret goes with the last host that needs it, and not before: all is deleted
// at once, in the order of the file, and the machines are off in the end.
func TestSecretIsHeld(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.apply("b", nil)
		w.until("a", "on", powered(hostapi.StateProvisioned))
		w.until("b", "on", powered(hostapi.StateAvailable))
		if s, _ := w.find("bmc"); s.Labels[hostapi.LabelEnvironment] != hostapi.EnvironmentBaremetal {
			t.Errorf("the secret has the labels %v", s.Labels)
		}
		w.dismiss("bmc")
		w.remove("a")
		w.gone("a")
		w.stays("bmc")
		if h := w.host("b"); h.Status.ErrorType != "" {
			t.Errorf("a host whose secret is held fails: %s", h.Status.ErrorMessage)
		}
		w.remove("b")
		w.gone("b")
		w.free("bmc")
		for _, name := range []string{"a", "b"} {
			if p := w.machines.state["<nil>default~"+name]; p != node.PowerOff {
				t.Errorf("the machine of %s is left %q", name, p)
			}
		}
	})
}

// TestSecretIsLetGo: a host's secret does not stay for ever, on every way that the host may end.
func TestSecretIsLetGo(t *testing.T) {
	for name, part := range map[string]func(*world){
		"named no more": func(w *world) {
			w.secret("other", "right")
			w.edit("a", func(h *hostapi.Host) { h.Spec.BMC.CredentialsName = "other" })
		},
		"by force": func(w *world) {
			w.edit("a", annotate(hostapi.AnnotationPaused, ""))
			w.remove("a")
			w.edit("a", func(h *hostapi.Host) { h.Finalizers = nil })
		},
		"detached": func(w *world) {
			w.edit("a", annotate(hostapi.AnnotationDetached, ""))
			w.until("a", "detached", func(h hostapi.Host) bool { return h.Status.OperationalStatus == hostapi.StatusDetached })
			w.stays("bmc")
			w.remove("a")
		},
		"paused": func(w *world) {
			w.edit("a", annotate(hostapi.AnnotationPaused, ""))
			w.remove("a")
			w.stays("bmc")
			w.edit("a", unannotate(hostapi.AnnotationPaused))
		},
		"unmanaged after all": func(w *world) {
			w.edit("a", func(h *hostapi.Host) { h.Spec.BMC.CredentialsName = "" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.apply("a", nil)
				w.until("a", "on", powered(hostapi.StateAvailable))
				w.dismiss("bmc")
				w.stays("bmc")
				part(w)
				w.free("bmc")
			})
		})
	}
}

// A host that was deleted while no reconciler ran leaves no held secret behind, deleted or not.
func TestSecretIsSwept(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		w.apply("a", nil)
		w.until("a", "on", powered(hostapi.StateAvailable))
		w.secret("idle", "right")
		s, _ := w.find("idle")
		s.Finalizers = []string{"example.org/mine"}
		_, err := objects.Update(ctx, w.docs, s)
		w.check(err)
		w.dismiss("bmc")
		w.stop()
		h := w.host("a")
		h.Finalizers = nil
		_, err = objects.Update(ctx, w.docs, h)
		w.check(err)
		w.remove("a")
		w.stays("bmc")
		w.start()
		w.free("bmc")
		if s, there := w.find("idle"); !there || len(s.Finalizers) != 1 {
			t.Errorf("a secret of no host has become %+v", s.ObjectMeta)
		}
		if _, err := objects.Get[hostapi.Host](ctx, w.docs, "default", "a"); !errors.Is(err, objects.ErrNotFound) {
			t.Errorf("the host is there still: %v", err)
		}
	})
}

// A secret is held for a host that was created while no reconciler ran as for any other. It is marked once. A new
// conductor does not release it before it has heard that the host holds it.
func TestSecretHeldFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, slowAbout{mem.New(), objects.Query{Kind: hostapi.KindSecret}})
		w.start()
		w.secret("bmc", "right")
		w.stop()
		w.apply("a", nil)
		_, revision, err := objects.List[hostapi.Secret](context.Background(), w.docs, "default")
		w.check(err)
		w.start()
		defer func() { w.stop() }()
		secrets, err := w.docs.Watch(objects.Filter{Kind: hostapi.KindSecret}, revision)
		w.check(err)
		w.becomes("a", hostapi.StateAvailable)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		writes := 0
		for _, err = secrets.Next(ctx); err == nil; _, err = secrets.Next(ctx) {
			writes++
		}
		if writes != 1 {
			t.Errorf("the secret was written %d times, want once", writes)
		}
	})
}
