package network

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// Metrics of the default routes: the interface the machine was booted from
// wins, the others follow in the kernel's order.
const (
	bootMetric  = 100
	otherMetric = 200
)

// Manager looks after all interfaces.
type Manager struct {
	kernel Kernel
	dhcp   DHCP
	log    *slog.Logger
	boot   net.HardwareAddr // booted from; nil when not known
	onDNS  func([]Config)   // called with all configurations after a change

	// Foreign returns why an interface is none of the machine's own; "" for its own. Such an
	// interface is left alone: the network of a BMC's card leads nowhere. Set before Run.
	Foreign func(name string) string

	// Plan replaces DHCP on every card, once Planned is closed; a nil channel is never waited
	// for. Set before Run.
	Plan    netconfig.Plan
	Planned <-chan struct{}
	static  *static // for the goroutine of Run; nil without a plan

	mu      sync.Mutex
	lacking string // the plan's missing parts
	state   map[int]*state
	foreign map[int]string // names of the interfaces that are not ours
	changed chan struct{}  // closed and made anew at each change
	anew    chan struct{}  // the same at each AskAnew
}

// state is the state of one interface.
type state struct {
	link    Link
	role    role
	carrier bool
	down    error // why it could not be switched on
	config  *Config
	stop    context.CancelFunc
}

// New makes a manager. boot is the MAC address that the machine was booted from, nil
// when not known. onDNS is called with all configurations, the boot interface's first,
// whenever one changes.
func New(kernel Kernel, dhcp DHCP, boot net.HardwareAddr, onDNS func([]Config), log *slog.Logger) *Manager {
	return &Manager{kernel: kernel, dhcp: dhcp, log: log, boot: boot, onDNS: onDNS, state: map[int]*state{},
		changed: make(chan struct{}), anew: make(chan struct{}), foreign: map[int]string{},
		Foreign: func(string) string { return "" }}
}

// Run looks after the interfaces until ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	changes, err := m.kernel.Changes(ctx)
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	if len(m.Plan.Links) > 0 {
		m.static = newStatic(m.Plan, m.kernel, m.log)
		if m.Planned != nil {
			select {
			case <-m.Planned:
			case <-ctx.Done():
				return nil
			}
		}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	// Events can be lost; a slow look around makes up for it.
	slow := time.NewTicker(time.Second)
	defer slow.Stop()
	for {
		if err := m.look(ctx, &wg); err != nil {
			m.log.Warn("interfaces cannot be listed", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		case <-slow.C:
		}
	}
}

// look starts to manage new interfaces and drops vanished ones.
func (m *Manager) look(ctx context.Context, wg *sync.WaitGroup) error {
	links, err := m.kernel.Links()
	if err == nil && m.static != nil {
		links, err = m.static.step(links)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.static != nil {
		m.lacking = m.static.missing()
	}
	present := map[int]bool{}
	for _, l := range links {
		role := m.roleOf(l)
		if role == unmanaged || len(l.MAC) != 6 {
			continue
		}
		present[l.Index] = true
		if m.isForeign(l) {
			continue
		}
		s, known := m.state[l.Index]
		if !known {
			lctx, stop := context.WithCancel(ctx)
			s = &state{link: l, role: role, stop: stop}
			m.state[l.Index] = s
			if role != fixed { // the plan's operations switch it on
				wg.Go(func() { m.serve(lctx, l, role) })
			}
		}
		if role == fixed && s.config == nil && m.static.ready(l) {
			s.config = m.static.config(l)
			m.log.Info("static address", "interface", l.Name, "address", s.config.Address.String())
			m.onDNS(m.configs())
			m.announce()
		}
		if c := m.kernel.Carrier(l); c != s.carrier {
			s.carrier = c
			m.announce()
		}
	}
	for index, s := range m.state {
		if !present[index] {
			s.stop()
			delete(m.state, index)
			m.announce()
		}
	}
	maps.DeleteFunc(m.foreign, func(index int, _ string) bool { return !present[index] })
	return nil
}

// isForeign reports whether an interface is left alone, and logs why at its first sight.
// The lock is held.
func (m *Manager) isForeign(l Link) bool {
	if m.foreign[l.Index] == l.Name {
		return true
	}
	if _, ours := m.state[l.Index]; ours {
		return false
	}
	reason := m.Foreign(l.Name)
	if reason == "" {
		return false
	}
	m.foreign[l.Index] = l.Name
	m.log.Info("interface left alone", "interface", l.Name, "mac", l.MAC.String(), "reason", reason)
	return true
}

// announce wakes all waiters. The lock is held.
func (m *Manager) announce() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// serve brings one interface up and keeps its address until ctx ends.
func (m *Manager) serve(ctx context.Context, l Link, role role) {
	log := m.log.With("interface", l.Name, "mac", l.MAC.String())
	if !m.up(ctx, l, log) || role != byDHCP {
		return
	}
	for ctx.Err() == nil {
		if !m.waitCarrier(ctx, l.Index, true) {
			return
		}
		log.Debug("link is up")
		m.hold(ctx, l, log)
	}
}

// upPause is between two attempts to switch an interface on. A card that resets its
// firmware refuses for seconds (bnxt_en, ice, i40e after an update, mlx5 health).
const upPause = time.Second

// up switches an interface on, however often it refuses, until ctx ends.
func (m *Manager) up(ctx context.Context, l Link, log *slog.Logger) bool {
	for tries := 1; ; tries++ {
		err := m.kernel.Up(l)
		m.mu.Lock()
		if s, known := m.state[l.Index]; known && (s.down == nil) != (err == nil) {
			s.down = err
			m.announce()
		}
		m.mu.Unlock()
		if err == nil {
			if tries > 1 {
				log.Info("interface is up", "tries", tries)
			}
			return true
		}
		if tries == 1 {
			log.Warn("interface does not come up; trying again each second", "err", err)
		}
		if !sys.Sleep(ctx, upPause) {
			return false
		}
	}
}

// waitCarrier waits until an interface has a link, or has none any more.
func (m *Manager) waitCarrier(ctx context.Context, index int, want bool) bool {
	for {
		m.mu.Lock()
		s, known := m.state[index]
		reached := known && s.carrier == want
		changed := m.changed
		m.mu.Unlock()
		if reached {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

func (m *Manager) record(l Link, c *Config) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.state[l.Index]
	if !known {
		return
	}
	s.config = c
	m.onDNS(m.configs())
	m.announce()
}

// configs are all there are, the boot interface's first. The lock is held.
func (m *Manager) configs() []Config {
	var indexes []int
	for i, s := range m.state {
		if s.config != nil && !s.config.Address.Addr().IsLinkLocalUnicast() {
			indexes = append(indexes, i)
		}
	}
	slices.SortFunc(indexes, func(a, b int) int {
		if boot := bytes.Equal(m.state[a].link.MAC, m.boot); boot != bytes.Equal(m.state[b].link.MAC, m.boot) {
			if boot {
				return -1
			}
			return 1
		}
		return a - b
	})
	var all []Config
	if len(m.Plan.DNS) > 0 {
		all = append(all, Config{DNS: m.Plan.DNS})
	}
	for _, i := range indexes {
		all = append(all, *m.state[i].config)
	}
	return all
}
