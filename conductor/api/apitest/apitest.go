// Package apitest serves the API of a whole conductor for tests: the real engine, with fake machines. The caller brings
// the store and the handlers of agents' calls, which the engine's interfaces do not know.
//
// It is for tests alone; nothing that ships imports it.
package apitest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/imports"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Conductor listens on the loopback until its test ends.
type Conductor struct {
	*httptest.Server
	Engine *engine.Engine
	BMC    *BMC
	Log    *Log
	t      testing.TB
}

// Start starts a conductor. mounts may be nil; with changes the other options of its API.
func Start(t testing.TB, store engine.Store, mounts func(*engine.Engine) map[string]api.Handler,
	with ...func(*api.Options)) *Conductor {
	t.Helper()
	c := &Conductor{BMC: newBMC(), Log: &Log{}, t: t}
	settings := plan.DefaultSettings()
	settings.ConductorName = "conductor-1"
	log := slog.New(slog.NewTextHandler(c.Log, nil))
	c.Engine = engine.New(engine.Config{
		Store: store, BMCs: map[string]engine.BMC{"fake-hardware": fakeMachine{c.BMC}, "ipmi": realMachine{c.BMC},
			"redfish": realMachine{c.BMC}},
		Agents: noAgents{}, Drives: drives{}, EraseKey: eraseKey(), Settings: settings, Log: log,
	})
	if err := c.Engine.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.Engine.Run(ctx) }()
	options := api.Options{Conductor: c.Engine, Imports: imports.New(c.Engine.Core), Logs: logs{}, Log: log,
		LockedInterval: time.Millisecond}
	if mounts != nil {
		options.Mounts = mounts(c.Engine)
	}
	for _, change := range with {
		change(&options)
	}
	c.Server = httptest.NewServer(api.New(options))
	t.Cleanup(func() { c.Close(); stop(); <-done })
	return c
}

// Log keeps the log's text, which tests search.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed by the next write; nil without a waiter
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.text.Write(p)
}

// More is closed when the next line is logged. Take it before String, so that no line is missed.
func (l *Log) More() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more == nil {
		l.more = make(chan struct{})
	}
	return l.more
}

// String is all that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
