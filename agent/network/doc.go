// Package network brings up every Ethernet interface that has a link: DHCP, addresses, routes, name servers, and
// renewals for as long as the agent runs. With a plan (proto/netconfig) it makes bonds and VLANs and sets static
// addresses instead. It adds interfaces that appear or get a link later. It never waits for an interface without a
// link.
//
// It must not know the purpose of the network. It reaches the kernel and DHCP through interfaces, so that its
// decisions are tested without root.
package network

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// Link is one network interface of the machine.
type Link struct {
	Index    int
	Name     string
	MAC      net.HardwareAddr
	Physical bool // backed by a device, not made by software

	Permanent net.HardwareAddr // a card's own, also while a bond sets another; nil where the driver has none
}

// Route is one way out.
type Route struct {
	To      netip.Prefix // 0.0.0.0/0 for the default
	Gateway netip.Addr   // invalid: directly reachable
	Metric  int
}

// Config is an interface's configuration by DHCP.
type Config struct {
	Address  netip.Prefix
	Routes   []Route
	DNS      []netip.Addr
	Domain   string
	Hostname string
	MTU      int // 0: leave as it is
	Lease    time.Duration
	Renew    time.Duration // after which to ask again
}

// Kernel has the calls of the kernel that this package needs.
type Kernel interface {
	Links() ([]Link, error)
	Up(Link) error
	Down(Link) error
	Carrier(Link) bool
	Configure(Link, Config) error
	Deconfigure(Link, Config) error
	// Do carries out an operation of a plan. On is the changed link, other the link that it is attached to; both are
	// zero where they do not exist (yet).
	Do(o netconfig.Operation, on, other Link) error
	// Move gives a route another metric.
	Move(l Link, r Route, metric int) error
	// Changes signals that links came, went or changed. It does not say which.
	Changes(ctx context.Context) (<-chan struct{}, error)
}

// DHCP asks for addresses. Interfaces ask concurrently, each from its own goroutine, and repeat a failed request after
// a pause.
type DHCP interface {
	// Request asks for an address anew.
	Request(ctx context.Context, l Link) (Session, error)
}

// Session is the lease of an address. One goroutine uses it.
type Session interface {
	Config() Config
	// Renew asks to keep it.
	Renew(ctx context.Context) (Session, error)
}
