package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// The limits on a request, besides connlimit.NewServer's.
const (
	readTimeout  = 2 * time.Minute
	writeTimeout = 3 * time.Minute
)

// NewServer makes the HTTP server for h with those limits. readTimeout is for requests without a body: a body must come
// at a least rate. Requests end with ctx: it must outlast Shutdown, which lets those under way finish.
func NewServer(ctx context.Context, h http.Handler, log *slog.Logger) *http.Server {
	srv := connlimit.NewServer(h, log)
	srv.ReadTimeout, srv.WriteTimeout = readTimeout, writeTimeout
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	return srv
}
