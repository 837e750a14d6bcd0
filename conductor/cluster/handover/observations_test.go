package handover

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// observedTerm is a term of the default group, with an engine and the Observations that store its observations.
func observedTerm(t *testing.T, rows *store.Members, address, name string) (*store.Database, *engine.Engine, func()) {
	t.Helper()
	db, _ := logTerm(t, rows, address, name)
	s := NewObservations(db, slog.New(slog.NewTextHandler(t.Output(), nil)))
	group := ""
	e := engine.New(engine.Config{Store: db, Group: &group, Log: slog.New(slog.DiscardHandler), Observations: s.Recall()})
	s.SetEngine(e)
	ctx, end := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.Run(ctx)
	}()
	stop := func() {
		end()
		<-over
	}
	t.Cleanup(stop)
	return db, e, stop
}

// TestSharedObservations: the next leader shows the boot stages and progress that the last one has seen, with its own.
// A new boot begins anew, and a leader that was superseded changes nothing.
func TestSharedObservations(t *testing.T) {
	address := postgrestest.URL(t)
	rows, err := store.OpenMembers(t.Context(), address, store.PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	db, first, stop := observedTerm(t, rows, address, "a")
	const id = "11111111-2222-4333-8444-555555555555"
	began := time.Now().Add(-time.Minute)
	if _, err := db.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: id, ProvisionState: node.DeployWait,
		Run: &node.Run{Activity: "deploy", Since: began}}}); err != nil {
		t.Fatal(err)
	}
	at := func(second int) time.Time { return began.Add(time.Duration(second) * time.Second).UTC() }
	sees := func(e *engine.Engine, name string, second int, fresh bool) {
		e.Memory.Stage(id, engine.BootStage{Name: name, At: at(second)}, fresh)
	}
	shown := func(e *engine.Engine) (names []string, p *engine.Progress) {
		t.Helper()
		st, err := e.Status(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range st.BootStages {
			names = append(names, s.Name)
		}
		return names, st.Progress
	}
	want := func(e *engine.Engine, done int64, stages ...string) {
		t.Helper()
		names, p := shown(e)
		if !slices.Equal(names, stages) || p == nil || p.Done != done || p.Total != 100 {
			t.Errorf("shown are %v, %+v; expected %v, %d of 100", names, p, stages, done)
		}
	}
	sees(first, "power on", 1, true)
	sees(first, "dhcp offer", 2, false)
	first.Memory.Report(id, agentapi.Progress{Step: "write_image", Done: 10, Total: 100}, at(3))
	first.Memory.Report(id, agentapi.Progress{Step: "write_image", Done: 30, Total: 100}, at(5))
	stop() // writes the rest

	_, second, stop := observedTerm(t, rows, address, "b")
	sees(second, "dhcp offer", 6, false) // the machine asks again
	sees(second, "kernel", 7, false)
	stop()
	want(second, 30, "power on", "dhcp offer", "kernel")
	if _, p := shown(second); p.Rate != 10 {
		t.Errorf("the rate is %v bytes a second, expected 10", p.Rate)
	}

	_, third, stop := observedTerm(t, rows, address, "c")
	want(third, 30, "power on", "dhcp offer", "kernel")
	sees(third, "power on", 8, true)
	stop()
	want(third, 30, "power on")
	sees(second, "late", 9, false)

	_, fourth, _ := observedTerm(t, rows, address, "d")
	want(fourth, 30, "power on")
}
