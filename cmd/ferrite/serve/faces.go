package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/api"
)

// face is an address of this process, and the server behind it.
type face struct {
	server   *http.Server
	listener net.Listener
}

// faces are all of them.
type faces []face

// faces serves an API at its address, and its agents' endpoints at theirs; nil where they have no address of their own.
// Requests end with ctx.
func (c *Config) faces(ctx context.Context, h http.Handler, main, agents net.Listener, log *slog.Logger) faces {
	all := faces{{api.NewServer(ctx, c.onlyHosts(c.apart(c.withPages(h)), log), log), main}}
	if agents != nil {
		log.Info("agents call here", "url", c.scheme()+agents.Addr().String())
		all = append(all, face{api.NewServer(ctx, c.onlyHosts(api.OnlyAgents(h), log), log), agents})
	}
	return all
}

// serve answers requests, until drain. fail receives the error of a server that cannot.
func (f faces) serve(parts *sync.WaitGroup, fail context.CancelCauseFunc) {
	for _, one := range f {
		parts.Go(func() {
			if err := one.server.Serve(one.listener); !errors.Is(err, http.ErrServerClosed) {
				fail(err)
			}
		})
	}
}

// drain ends the servers one after the other.
func (f faces) drain(cutOff func(), log *slog.Logger) {
	for _, one := range f {
		if err := drain(one.server, stopTime, cutOff); err != nil {
			log.Info("requests cut off at the end", "err", err)
		}
	}
}
