package network

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// machine is a kernel and a DHCP server in memory.
type machine struct {
	mu      sync.Mutex
	links   []Link
	carrier map[string]bool
	wake    chan struct{}
	calls   []string
	asked   map[string]int // requests by interface
	asker   string         // MAC address of the last request
	broken  map[string]int // how often an action of a plan fails first
	refuse  map[string]int // how many requests are refused first
	renew   error
	busy    map[string]int // how often Up fails first
	local   bool           // addresses are link-local
	network byte           // third byte of the addresses
}

func newMachine(names ...string) *machine {
	m := &machine{carrier: map[string]bool{}, wake: make(chan struct{}, 1), asked: map[string]int{},
		refuse: map[string]int{}, busy: map[string]int{}, broken: map[string]int{}}
	for i, n := range names {
		m.links = append(m.links, Link{Index: i + 1, Name: n, MAC: mac(i + 1), Physical: true})
	}
	m.links = append(m.links, Link{Index: 99, Name: "lo"})
	return m
}

func mac(i int) net.HardwareAddr { return net.HardwareAddr{0x52, 0x54, 0, 0, 0, byte(i)} }

func (m *machine) Links() ([]Link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.links), nil
}

func (m *machine) note(format string, args ...any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, fmt.Sprintf(format, args...))
	return nil
}

func (m *machine) Up(l Link) error {
	m.mu.Lock()
	busy := m.busy[l.Name]
	m.busy[l.Name] = max(busy-1, 0)
	m.mu.Unlock()
	if busy > 0 {
		return errors.New("device or resource busy")
	}
	return m.note("up %s", l.Name)
}

func (m *machine) Down(l Link) error { return m.note("down %s", l.Name) }

func (m *machine) Carrier(l Link) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.carrier[l.Name]
}

func (m *machine) Configure(l Link, c Config) error {
	return m.note("configure %s %s metric %d", l.Name, c.Address, c.Routes[0].Metric)
}

func (m *machine) Move(l Link, r Route, metric int) error {
	return m.note("move %s by %s metric %d to %d", l.Name, r.Gateway, r.Metric, metric)
}

func (m *machine) Deconfigure(l Link, c Config) error {
	return m.note("deconfigure %s %s", l.Name, c.Address)
}

func (m *machine) Do(o netconfig.Operation, on, other Link) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken[string(o.Action)] > 0 {
		m.broken[string(o.Action)]--
		return fmt.Errorf("%s: no such device", o)
	}
	m.calls = append(m.calls, fmt.Sprintf("%s on=%s other=%s", o, on.Name, other.Name))
	if o.Action == netconfig.Create {
		hw := o.Link.MAC
		if hw == nil {
			hw = mac(70)
		}
		m.links = append(m.links, Link{Index: 50 + len(m.links), Name: o.Link.Name, MAC: hw})
	}
	return nil
}

func (m *machine) Changes(context.Context) (<-chan struct{}, error) { return m.wake, nil }

func (m *machine) set(name string, carrier bool) {
	m.mu.Lock()
	m.carrier[name] = carrier
	m.mu.Unlock()
	m.wake <- struct{}{}
}

// count is how often an interface asked; done is the list of kernel operations.
func (m *machine) count(what string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[what]
}

func (m *machine) done() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

func (m *machine) Request(_ context.Context, l Link) (Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[l.Name]++
	m.asker = l.MAC.String()
	if m.refuse[l.Name] > 0 {
		m.refuse[l.Name]--
		return nil, errors.New("no offer")
	}
	return held{m, l, m.network}, nil
}

// held is a lease of ten minutes.
type held struct {
	m       *machine
	l       Link
	network byte
}

func (h held) Config() Config {
	ip := netip.AddrFrom4([4]byte{10, 0, h.network, byte(h.l.Index)})
	if h.m.local {
		ip = netip.AddrFrom4([4]byte{169, 254, 0, byte(h.l.Index)})
	}
	return Config{
		Address: netip.PrefixFrom(ip, 24), Lease: 10 * time.Minute, Renew: 5 * time.Minute,
		Routes: []Route{{To: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Gateway: netip.AddrFrom4([4]byte{10, 0, 0, 254})}},
		DNS:    []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(50 + h.l.Index)})},
	}
}

func (h held) Renew(context.Context) (Session, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	h.m.asked["renew "+h.l.Name]++
	return h, h.m.renew
}

// start runs a manager over m in the test's bubble.
func start(t *testing.T, m *machine, boot net.HardwareAddr) (*Manager, func()) {
	t.Helper()
	mgr := New(m, m, boot, func([]Config) {}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := mgr.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return mgr, func() { cancel(); wg.Wait() }
}
