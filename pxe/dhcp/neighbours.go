package dhcp

import (
	"log/slog"
	"net/netip"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/pxe"
)

// maxNeighbours is how many other DHCP servers are logged: anybody can invent some.
const maxNeighbours = 16

// neighbours are the other DHCP servers that were heard. Each is logged once. They are safe for concurrent use.
type neighbours struct {
	expected bool
	log      *slog.Logger

	mu   sync.Mutex
	seen map[netip.Addr]bool
}

func newNeighbours(c Config) *neighbours {
	return &neighbours{expected: c.OtherDHCP, log: c.Log, seen: map[netip.Addr]bool{}}
}

// noted logs the other server that an event is about, if it is heard of for the first time. How
// it is known stands in the texts.
func (n *neighbours) noted(e pxe.Event, texts ...string) {
	if !e.Server.IsValid() || !n.first(e.Server) {
		return
	}
	how := strings.Join(texts, "")
	if n.expected {
		n.log.Info("another DHCP server is on the boot network, as expected", "server", e.Server, "heard", how)
		return
	}
	n.log.Warn("another DHCP server answers on the boot network: stop it, or start the conductor with --dhcp proxy or off",
		"server", e.Server, "heard", how, "mac", e.MAC.String())
}

func (n *neighbours) first(at netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen[at] || len(n.seen) >= maxNeighbours {
		return false
	}
	n.seen[at] = true
	return true
}
