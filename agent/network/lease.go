package network

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// Pauses between attempts at DHCP.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = 10 * time.Second
	remind     = 30 * time.Minute // between two lines of the log about the same port
)

// hold gets an address and renews it until the link goes or the server takes
// the address back.
func (m *Manager) hold(ctx context.Context, l Link, log *slog.Logger) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the cancel above
		m.waitCarrier(ctx, l.Index, false)
		cancel()
	}()
	session, err := m.request(ctx, l, log)
	for err == nil {
		config, err := m.apply(l, session.Config())
		if err != nil {
			log.Warn("address not set", "err", err)
			sys.Sleep(ctx, maxPause)
			return
		}
		log.Info("address by DHCP", "address", config.Address.String(), "lease", config.Lease)
		if !m.renew(ctx, session, log) {
			m.drop(l, config, log)
			return
		}
		// Until there is an answer the old address is better than none.
		if session, err = m.request(ctx, l, log); err != nil || session.Config().Address != config.Address {
			m.drop(l, config, log)
		}
		if err != nil {
			return
		}
	}
}

// request asks for an address until it gets one or ctx ends.
func (m *Manager) request(ctx context.Context, l Link, log *slog.Logger) (Session, error) {
	began, said := time.Now(), time.Time{}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		s, err := m.dhcp.Request(ctx, l)
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		level := slog.LevelDebug
		if said.IsZero() || time.Since(said) >= remind {
			level, said = slog.LevelInfo, time.Now()
		}
		log.Log(ctx, level, "no address by DHCP yet", "err", err, "asked_for", time.Since(began).Round(time.Second))
		if !sys.Sleep(ctx, pause) {
			return nil, ctx.Err()
		}
	}
}

// AskAnew makes every interface ask for its address again: the network behind
// a link may have become another one, which the link does not show.
func (m *Manager) AskAnew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.anew)
	m.anew = make(chan struct{})
}

// renew keeps the address for as long as the server agrees. A server that
// does not answer is asked again until the lease has run out. It returns true
// when the address is to be asked for anew.
func (m *Manager) renew(ctx context.Context, s Session, log *slog.Logger) (anew bool) {
	m.mu.Lock()
	asked := m.anew
	m.mu.Unlock()
	end := time.Now().Add(s.Config().Lease)
	wait := s.Config().Renew
	for {
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return false
		case <-asked:
			t.Stop()
			return true
		case <-t.C:
		}
		next, err := s.Renew(ctx)
		if err == nil {
			s, end, wait = next, time.Now().Add(next.Config().Lease), next.Config().Renew
			continue
		}
		left := time.Until(end)
		log.Info("lease not renewed", "err", err, "left", left.Round(time.Second))
		if left <= 0 || isNak(err) {
			return false
		}
		wait = max(left/2, time.Second)
	}
}

// apply gives an interface its address and records it.
func (m *Manager) apply(l Link, c Config) (Config, error) {
	metric := otherMetric + l.Index
	if bytes.Equal(l.MAC, m.boot) {
		metric = bootMetric
	}
	for i := range c.Routes {
		c.Routes[i].Metric = metric
	}
	if err := m.kernel.Configure(l, c); err != nil {
		return c, err
	}
	m.record(l, &c)
	return c, nil
}

// drop takes an address away that is no longer ours.
func (m *Manager) drop(l Link, c Config, log *slog.Logger) {
	if err := m.kernel.Deconfigure(l, c); err != nil {
		log.Debug("address not taken away", "err", err)
	}
	m.record(l, nil)
}
