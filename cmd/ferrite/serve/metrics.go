package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/pxe"
)

// checkMetrics refuses the address of the API, where /metrics is for readers.
func (c *Config) checkMetrics() error {
	if c.Metrics == c.APIAddress && !strings.HasSuffix(c.Metrics, ":0") {
		return fmt.Errorf("--metrics-address %s is that of the API: leave it out to have /metrics there, for readers",
			c.Metrics)
	}
	return nil
}

// metricsServer serves /metrics without a login; nil without --metrics-address.
type metricsServer struct {
	listener net.Listener
	server   *http.Server
}

// openMetrics opens the address of the metrics of a conductor alone.
func (w *work) openMetrics(context.Context, parts) (err error) {
	w.scrapes, err = w.conf.listenMetrics(w.counters, w.log)
	return err
}

// listenMetrics opens the address of the metrics.
func (c *Config) listenMetrics(counters http.Handler, log *slog.Logger) (*metricsServer, error) {
	if c.Metrics == "" {
		return nil, nil
	}
	l, err := connlimit.Listen(c.Metrics, maxScrapes, maxScrapesEach, nil, log)
	if err != nil {
		return nil, fmt.Errorf("--metrics-address: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", counters)
	server := connlimit.NewServer(c.onlyHosts(mux, log), log)
	server.WriteTimeout = time.Minute
	return &metricsServer{listener: l, server: server}, nil
}

// run serves until ctx ends.
func (m *metricsServer) run(ctx context.Context, log *slog.Logger) error {
	log.Info("metrics", "url", "http://"+m.listener.Addr().String()+"/metrics")
	defer context.AfterFunc(ctx, func() { _ = m.server.Close() })() // its error repeats the listener's close
	if err := m.server.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// close gives the address back, of a server that does not run.
func (m *metricsServer) close() error {
	if m == nil {
		return nil
	}
	return m.listener.Close()
}

// bootCounter counts the requests on the boot network.
type bootCounter struct{ counters *metrics.Metrics }

// Record counts one.
func (b bootCounter) Record(e pxe.Event) {
	b.counters.Booted(string(e.Service), e.Message, string(e.Reason))
}
