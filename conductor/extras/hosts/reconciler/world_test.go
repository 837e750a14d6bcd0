package reconciler_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/fake"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// database is a conductor's store of nodes and documents.
type database interface {
	engine.Store
	objects.Store
}

// world is a conductor with hosts, and machines that obey at once, in one process and, under synctest, in virtual time.
type world struct {
	tb       testing.TB
	store    database
	machines *machines
	limit    int
	groups   reconciler.Groups
	ramdisks []reconciler.DeployImage
	glance   func(node.Node)  // after each read of a node; nil for nothing
	slow     func(node.Event) // before the own engine takes a verb; nil for nothing

	most atomic.Int64 // nodes that were busy at a time
	mu   sync.Mutex
	told []string // reasons of recorded events
	docs *objects.Keeper
	eng  *engine.Engine
	rec  *reconciler.Reconciler
	stop func()
}

func newWorld(tb testing.TB, s database) *world {
	return &world{
		tb: tb, store: s, machines: &machines{Driver: fake.New(fake.Script{}), bmcs: newBMCs(),
			state: map[string]node.PowerState{}, speed: map[string]string{}, steps: map[string]int{}}, limit: 20,
	}
}

// start begins a conductor's life; stop ends it.
func (w *world) start() {
	w.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log := slog.New(slog.DiscardHandler)
	docs, err := objects.New(ctx, objects.Config{Store: w.store, Key: make([]byte, 32)})
	if err != nil {
		w.tb.Fatal(err)
	}
	rec := reconciler.New(reconciler.Config{Documents: docs, Log: log, ProvisioningLimit: w.limit, RecordEvents: w.tell,
		Groups: w.groups, DeployImages: w.ramdisks})
	settings := plan.DefaultSettings()
	settings.ConductorName = "test"
	var eng *engine.Engine
	changed := func(n node.Node) {
		busy := busyOf(eng)
		for most := w.most.Load(); busy > most && !w.most.CompareAndSwap(most, busy); {
			most = w.most.Load()
		}
		rec.NodeChanged(n)
	}
	eng = engine.New(engine.Config{
		Store: w.store, BMCs: map[string]engine.BMC{"fake-hardware": w.machines}, Drives: drives{},
		EraseKey: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), Settings: settings, Log: log,
	})
	eng.ListenLast(engine.EachNode(changed))
	if err := eng.Recover(ctx); err != nil {
		w.tb.Fatal(err)
	}
	var parts sync.WaitGroup
	parts.Go(func() { eng.Run(ctx) })
	parts.Go(func() { rec.Run(ctx, glancing{eng, w.glance, w.slow}) })
	w.docs, w.eng, w.rec, w.stop = docs, eng, rec, func() {
		cancel()
		parts.Wait()
	}
}

// glancing is an engine that something may happen to while its nodes are looked at.
type glancing struct {
	*engine.Engine
	glance func(node.Node)
	slow   func(node.Event)
}

func (g glancing) Provision(ctx context.Context, ref string, r plan.Request) error {
	if g.slow != nil {
		g.slow(r.Verb)
	}
	return g.Engine.Provision(ctx, ref, r)
}

func (g glancing) Node(ctx context.Context, ref string) (node.Node, error) {
	n, err := g.Engine.Node(ctx, ref)
	if err == nil && g.glance != nil {
		g.glance(n)
	}
	return n, err
}

func (w *world) tell(_ hostapi.Document, all []hostapi.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range all {
		w.told = append(w.told, e.Reason)
	}
}

// heard is the number of events with a reason.
func (w *world) heard(reason string) (times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.told {
		if r == reason {
			times++
		}
	}
	return times
}

// busyOf is how many nodes count for the limit.
func busyOf(e *engine.Engine) (n int64) {
	for state, count := range e.CountUnowned() {
		if host.BusyStates[state] {
			n += int64(count)
		}
	}
	return n
}

// delayed is how many hosts wait until fewer nodes are busy.
func (w *world) delayed() (n int) {
	w.tb.Helper()
	hosts, _, err := objects.List[hostapi.Host](context.Background(), w.docs, "default")
	w.check(err)
	for _, h := range hosts {
		if h.Status.OperationalStatus == hostapi.StatusDelayed {
			n++
		}
	}
	return n
}

// drives keeps config drives as they are, to be looked at.
type drives struct{}

func (drives) Encode(d any, _ node.Node) (string, error) { return fmt.Sprint(d), nil }

// secret makes, or changes, the credentials of a BMC.
func (w *world) secret(name, password string) {
	w.tb.Helper()
	data := map[string][]byte{"username": []byte("admin"), "password": []byte(password)}
	w.data(name, data)
}

func (w *world) data(name string, data map[string][]byte) {
	w.tb.Helper()
	ctx := context.Background()
	_, err := objects.Create(ctx, w.docs,
		hostapi.Secret{ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "default"}, Data: data})
	if errors.Is(err, objects.ErrExists) {
		var is hostapi.Secret
		if is, err = objects.Get[hostapi.Secret](ctx, w.docs, "default", name); err == nil {
			is.Data = data
			_, err = objects.Update(ctx, w.docs, is)
		}
	}
	w.check(err)
}

// dismiss asks for the deletion of a secret.
func (w *world) dismiss(name string) {
	w.tb.Helper()
	_, _, err := objects.Delete[hostapi.Secret](context.Background(), w.docs, "default", name, objects.DeleteOptions{})
	w.check(err)
}

// wrest deletes a secret although hosts hold it.
func (w *world) wrest(name string) {
	w.tb.Helper()
	w.dismiss(name)
	for s, ok := w.find(name); ok; s, ok = w.find(name) {
		s.Finalizers = nil
		if _, err := objects.Update(context.Background(), w.docs, s); !errors.Is(err, objects.ErrConflict) &&
			!errors.Is(err, objects.ErrNotFound) {
			w.check(err)
		}
	}
}

// find is a secret, if it is there.
func (w *world) find(name string) (s hostapi.Secret, ok bool) {
	w.tb.Helper()
	s, err := objects.Get[hostapi.Secret](context.Background(), w.docs, "default", name)
	if !errors.Is(err, objects.ErrNotFound) {
		w.check(err)
	}
	return s, err == nil
}

func (w *world) check(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

// apply makes a host of fake hardware, on, that is looked at by its BMC.
func (w *world) apply(name string, change func(*hostapi.Host)) hostapi.Host {
	w.tb.Helper()
	h := hostapi.Host{
		ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "default"},
		Spec: hostapi.HostSpec{Online: true, BMC: hostapi.BMC{Address: "fake://" + name, CredentialsName: "bmc"},
			InspectionMode: hostapi.InspectionFast},
	}
	if change != nil {
		change(&h)
	}
	h, err := objects.Create(context.Background(), w.docs, h)
	w.check(err)
	return h
}

// edit changes a host as people do.
func (w *world) edit(name string, change func(*hostapi.Host)) {
	w.tb.Helper()
	for {
		h := w.host(name)
		if h.Annotations == nil {
			h.Annotations = map[string]string{}
		}
		change(&h)
		_, err := objects.Update(context.Background(), w.docs, h)
		if !errors.Is(err, objects.ErrConflict) {
			w.check(err)
			return
		}
	}
}

func (w *world) host(name string) hostapi.Host {
	w.tb.Helper()
	h, err := objects.Get[hostapi.Host](context.Background(), w.docs, "default", name)
	w.check(err)
	return h
}

func (w *world) remove(name string) {
	w.tb.Helper()
	_, _, err := objects.Delete[hostapi.Host](context.Background(), w.docs, "default", name, objects.DeleteOptions{})
	w.check(err)
}

func (w *world) node(name string) node.Node {
	w.tb.Helper()
	n, err := w.eng.Node(context.Background(), "default~"+name)
	w.check(err)
	return n
}

// until waits for a host to be so. In virtual time that is over at once, in
// either way.
func (w *world) until(name, what string, so func(hostapi.Host) bool) hostapi.Host {
	w.tb.Helper()
	for range 40_000 {
		if h := w.host(name); so(h) {
			return h
		}
		time.Sleep(500 * time.Millisecond)
	}
	st, _ := json.MarshalIndent(w.host(name).Status, "", " ")
	w.tb.Fatalf("host %s never comes to be %s: %s", name, what, st)
	return hostapi.Host{}
}

func (w *world) becomes(name string, s hostapi.State) hostapi.Host {
	w.tb.Helper()
	return w.until(name, string(s), func(h hostapi.Host) bool { return h.Status.Provisioning.State == s })
}

func (w *world) fails(name string, t hostapi.ErrorType) hostapi.Host {
	w.tb.Helper()
	return w.until(name, string(t), func(h hostapi.Host) bool { return h.Status.ErrorType == t })
}

func (w *world) gone(name string) {
	w.tb.Helper()
	for range 40_000 {
		_, err := objects.Get[hostapi.Host](context.Background(), w.docs, "default", name)
		if errors.Is(err, objects.ErrNotFound) {
			return
		}
		w.check(err)
		time.Sleep(500 * time.Millisecond)
	}
	w.tb.Fatalf("host %s never goes: %+v", name, w.host(name).Status)
}

func withImage(url string) func(*hostapi.Host) {
	return func(h *hostapi.Host) {
		h.Spec.Image = &hostapi.Image{URL: url, Checksum: strings.Repeat("0", 64), ChecksumType: hostapi.SHA256}
	}
}

func annotate(name, value string) func(*hostapi.Host) {
	return func(h *hostapi.Host) { h.Annotations[name] = value }
}

func unannotate(name string) func(*hostapi.Host) {
	return func(h *hostapi.Host) { delete(h.Annotations, name) }
}

var _ database = (*mem.Store)(nil)
