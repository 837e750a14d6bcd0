package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// The limits on a connection: who sends nothing, or slowly, is cut off.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 2 * time.Minute
	writeTimeout  = 3 * time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// NewServer makes the HTTP server for h with those limits, of which readTimeout is
// for requests without a body: one that has a body must come at a least rate.
// Requests end with ctx: it must outlast Shutdown, which lets those under way finish.
func NewServer(ctx context.Context, h http.Handler, log *slog.Logger) *http.Server {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	connlimit.Track(srv)
	return srv
}
