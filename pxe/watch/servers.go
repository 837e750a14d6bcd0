package watch

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// maxServers is how many other DHCP servers are remembered: anybody can invent some.
const maxServers = 16

// Server is another DHCP server that was heard on the boot network.
type Server struct {
	Address     netip.Addr
	First, Last time.Time // heard
	Times       int
	Lends       bool   // it gives addresses; else it names boot files alone
	BootFile    string // named last
	Expected    bool   // the configuration says that there is one
}

type servers map[netip.Addr]*Server

// heard takes note of the other DHCP server that an event is about. Of those that were invented, the
// longest silent makes room. The lock is held.
func (l *Log) heard(e pxe.Event) {
	if !e.Server.IsValid() {
		return
	}
	s := l.servers[e.Server]
	if s == nil {
		if len(l.servers) >= maxServers {
			quiet := slices.MinFunc(l.servers.list(), func(a, b Server) int { return a.Last.Compare(b.Last) })
			delete(l.servers, quiet.Address)
		}
		s = &Server{Address: e.Server, First: e.At, Expected: l.otherDHCP}
		l.servers[e.Server] = s
	}
	s.Last = e.At
	s.Times++
	if e.Service == pxe.Neighbour {
		s.Lends = s.Lends || e.IP.IsValid()
		s.BootFile = cmp.Or(e.File, s.BootFile)
	} else { // a machine asks it for an address
		s.Lends = true
	}
}

// Servers lists the other DHCP servers, by address.
func (l *Log) Servers() []Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.servers.list()
}

func (s servers) list() (all []Server) {
	for _, one := range s {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Server) int { return a.Address.Compare(b.Address) })
	return all
}

var _ pxe.Recorder = (*Log)(nil)
