package serve

import (
	"crypto/tls"
	"log/slog"
	"net"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// The limits of the API's connections at a time, in all and per address. An idle connection costs 20 KB. It is cut off
// after some seconds, and earlier when others need its place.
const (
	maxConnections = 1024
	maxEach        = 64

	// The metrics have readers that come one after the other.
	maxScrapes, maxScrapesEach = 64, 16
	// A member forwards as many requests as it has connections of clients.
	maxForwarded, maxForwardedEach = 2 * maxConnections, maxConnections
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

// encrypted speaks TLS where there is a certificate.
func encrypted(listener net.Listener, cert *certificate.Certificate) net.Listener {
	if cert == nil {
		return listener
	}
	return tls.NewListener(listener, cert.TLS())
}
