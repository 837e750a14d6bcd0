package serve

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/certificate"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// How many connections the API serves at a time, in all and of one address: one
// that does nothing costs 20 KB, is cut off after some seconds, and before that
// gives way to others.
const (
	maxConnections = 1024
	maxEach        = 64
	// How long one above its address's share waits.
	shareWait = 5 * time.Second
)

// streamLimits are the shares of answers without an end. All of them together are half of the connections:
// agents.MostRequests of the other half are for agents, the rest is for requests that end by themselves.
func streamLimits() connlimit.StreamLimits {
	return connlimit.StreamLimits{All: maxConnections / 2, Project: 128, User: 64, Loopback: 32,
		// Reading a log takes memory, and watching the boot network time.
		Kinds: map[string]int{"logs": 64, "boot watches": 32}}
}

// newStreams makes the pool of the places for answers without an end, of all that this process serves.
func newStreams(log *slog.Logger) *connlimit.Streams {
	return connlimit.NewStreams(streamLimits(), func(err error, holder string) {
		log.Warn("no place for one more stream, watch or console", "why", err, "holder", holder)
	})
}

// limited bounds the connections of strangers, and speaks TLS where there is a certificate.
func (c Config) limited(listener net.Listener, cert *certificate.Certificate, log *slog.Logger) net.Listener {
	listener = connlimit.LimitAnd(listener, maxConnections, maxEach, shareWait, c.proxies, func(from netip.Addr,
		err error) {
		log.Warn("connections refused", "address", from, "err", err)
	})
	if cert != nil {
		listener = tls.NewListener(listener, cert.TLS())
	}
	return listener
}
