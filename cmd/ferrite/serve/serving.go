package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/metrics"
	"github.com/ferrite-metal/ferrite/conductor/node"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// How long the requests under way may take once the conductor stops, and how
// long those that are then cut off may take to answer so. Clients of consoles
// have consoleTime to take their close frame.
const (
	stopTime    = 3 * time.Second
	cutOffTime  = time.Second
	consoleTime = 2 * time.Second
)

// serving is the parts of a conductor that run side by side.
type serving struct {
	conf     Config
	fail     context.CancelCauseFunc // ends the context of run, for the reason given
	engine   *engine.Engine
	listener net.Listener
	face     *api.API
	boot     *bootserver.Server // nil without --boot
	log      *slog.Logger
	manager  serviceManager
	counters *metrics.Metrics
	scrapes  *metricsServer // nil without --metrics-address
	changes  *changeLog     // nil in tests
}

// run runs the parts until ctx ends or one of them fails; then it ends the
// others, the API first: the engine and the store outlast every request that
// relies on them.
func (s serving) run(ctx context.Context) error {
	requests, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	srv := api.NewServer(requests, s.face, s.log)
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()

	var parts sync.WaitGroup
	parts.Go(func() { s.engine.Run(work) })
	parts.Go(func() {
		s.conf.searchNodes(work, s.engine, s.counters.Nodes.Read, s.log)
		s.counters.Nodes.AllRead()
	})
	if s.changes != nil {
		parts.Go(func() { s.changes.run(work) })
	}
	if s.scrapes != nil {
		parts.Go(func() {
			if err := s.scrapes.run(work, s.log); err != nil {
				s.fail(err)
			}
		})
	}
	if s.boot != nil {
		parts.Go(func() { s.fail(s.boot.Serve(work)) })
	}
	parts.Go(func() {
		if err := srv.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
	c, addr := s.conf, s.listener.Addr()
	s.log.Info("ready", "api", c.scheme()+addr.String(), "host", c.Host, "data-dir", c.DataDir, "hardware-types",
		c.HardwareTypes, "boot", c.Boot)
	c.warnOpen(addr, s.log)
	s.manager.tell("READY=1")
	parts.Go(func() { s.manager.watch(work, s.alive) })

	<-ctx.Done()
	s.manager.tell("STOPPING=1")
	if err := drain(srv, stopTime, cutOff); err != nil {
		s.log.Info("requests cut off at the end", "err", err)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), consoleTime)
	if err := s.face.WaitConsoles(closing); err != nil {
		s.log.Info("clients of consoles cut off at the end", "err", err)
	}
	cancel()
	stopWork()
	parts.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	s.log.Info("stopped")
	return nil
}

// alive reads a node through the engine: it fails when the store hangs. It is no request to the API, whose connections
// strangers can use up.
func (s serving) alive(ctx context.Context) error {
	_, err := s.engine.Nodes(ctx, node.Query{Limit: 1})
	return err
}

// drain ends a server: requests under way may finish within patience. Those that
// have not are cut off, and have cutOffTime to answer 503. The error says that
// requests were cut off.
func drain(srv *http.Server, patience time.Duration, cutOff func()) error {
	within := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		return srv.Shutdown(ctx)
	}
	err := within(patience)
	if err == nil {
		return nil
	}
	cutOff()
	if within(cutOffTime) != nil {
		err = errors.Join(err, srv.Close())
	}
	return err
}
