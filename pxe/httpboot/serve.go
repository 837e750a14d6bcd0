package httpboot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

const (
	// a room at once; those that wait for their peers give way, others wait in the kernel's queue
	maxConnections = 1024
	maxEach        = 512              // of one address: a machine needs two, and racks sit behind one address
	shareWait      = 30 * time.Second // for those above it, as a machine waits for TFTP
	headerTimeout  = 10 * time.Second // for a body, too, which no request here needs
	idleTimeout    = time.Minute
	maxHeader      = 16 << 10
	grace          = 2 * time.Second // for downloads under way when the service stops
)

// Serve answers on l until ctx ends, then closes l and every connection. It
// returns nil when ctx ended it. proxies may be nil.
func Serve(ctx context.Context, l net.Listener, h http.Handler, proxies connlimit.Proxies, log *slog.Logger) error {
	srv := connlimit.NewServer(h, log)
	srv.IdleTimeout, srv.MaxHeaderBytes = idleTimeout, maxHeader
	done := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := srv.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = srv.Close()
		}
		done <- err
	})
	err := srv.Serve(connlimit.LimitAnd(l, maxConnections, maxEach, shareWait, proxies, func(from netip.Addr, err error) {
		log.Warn("boot connections refused", "address", from, "err", err)
	}))
	if stop() { // ctx did not end it
		return fmt.Errorf("boot http on %v: %w", l.Addr(), err)
	}
	return <-done
}
