package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// How long the requests under way may take once the conductor stops, and how
// long those that are then cut off may take to answer so. Clients of consoles
// have consoleTime to take their close frame.
const (
	stopTime    = 3 * time.Second
	cutOffTime  = time.Second
	consoleTime = 2 * time.Second
)

// serving is a conductor at work, and the server of its API.
type serving struct {
	*work
	listener net.Listener
	agents   net.Listener // of agents alone; nil without --agent-api-address
	manager  serviceManager
}

// run runs the parts until ctx ends or one of them fails; then it ends the
// others, the API first: the engine and the store outlast every request that
// relies on them.
func (s serving) run(ctx context.Context) error {
	requests, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	faces := s.conf.faces(requests, s.face, s.listener, s.agents, s.log)
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()

	parts := s.start(work)
	faces.serve(parts, s.fail)
	s.conf.announce(s.listener.Addr(), s.log)
	s.manager.notify("READY=1")
	if err := releaseStartPages(); err != nil {
		s.log.Warn("the pages that only the start has used stay resident", "err", err)
	}
	parts.Go(func() { s.manager.watch(work, s.alive) })

	<-ctx.Done()
	s.manager.notify("STOPPING=1")
	faces.drain(cutOff, s.log)
	s.endConsoles(ctx, consoleTime)
	stopWork()
	parts.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	s.log.Info("stopped")
	return nil
}

// announce says where the API is.
func (c Config) announce(at net.Addr, log *slog.Logger) {
	log.Info("ready", "api", c.scheme()+at.String(), "host", c.ConductorName, "data-dir", c.DataDir, "hardware-types",
		c.HardwareTypes, "boot", c.Boot)
	c.warnOpen(at, log)
}

// alive reads a node through the engine: it fails when the store hangs. It does not use the API, since strangers can
// use up the API's connections.
func (w *work) alive(ctx context.Context) error {
	_, err := w.engine.Nodes(ctx, node.Query{Limit: 1})
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
