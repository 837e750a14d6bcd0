package network

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Wait returns when the network is good enough to talk to the conductor: the
// boot interface has an address, or any has when it is not known. A link-local address
// does not count. After
// patience any address is good enough; without one it goes on waiting, since
// nothing can be done without. With all, it waits, within patience, until
// every interface that has a link has an address. With a plan it waits, within patience,
// for all links of the plan that get an address.
func (m *Manager) Wait(ctx context.Context, all bool, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	patient := true
	for {
		m.mu.Lock()
		enough := m.enough(all, patient)
		changed := m.changed
		m.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the network: %w; %s", ctx.Err(), m.Summary())
		case <-deadline.C:
			patient = false
			m.log.Warn("not every interface waited for has an address", "waited", patience, "interfaces", m.Summary())
		case <-changed:
		}
	}
}

// enough decides. The lock is held.
func (m *Manager) enough(all, patient bool) bool {
	have, missing, booted := 0, 0, false
	for _, s := range m.state {
		switch {
		case s.role == idle:
		case s.role == fixed && !s.carrier:
			// Its address is set, and reaches no host.
		case s.config != nil && s.config.Address.Addr().IsLinkLocalUnicast():
			// It reaches its own link, such as a BMC, and no conductor behind a router.
		case s.config != nil:
			have++
			booted = booted || bytes.Equal(s.link.MAC, m.boot)
		case s.carrier:
			missing++
		}
	}
	if !patient {
		return have > 0
	}
	if len(m.Plan.Links) > 0 {
		return have >= m.addressed()
	}
	if m.boot != nil && !booted || have == 0 {
		return false
	}
	return !all || missing == 0
}

// addressed counts the links of the plan that get an address.
func (m *Manager) addressed() int {
	n := 0
	for _, l := range m.Plan.Links {
		if l.Addressed() {
			n++
		}
	}
	return n
}

// Summary lists every interface's configuration in one line.
func (m *Manager) Summary() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.state) == 0 && m.lacking == "" {
		return "no network interface (is its driver in the ramdisk?)"
	}
	var parts []string
	for _, s := range m.state {
		what := "no link"
		switch {
		case s.role == fixed && s.config != nil && !s.carrier:
			what = s.config.Address.String() + ", no link"
		case s.config != nil:
			what = s.config.Address.String()
		case s.carrier:
			what = "link, no address"
		case s.down != nil:
			what = "does not come up: " + s.down.Error()
		}
		parts = append(parts, s.link.Name+": "+what)
	}
	if m.lacking != "" {
		parts = append(parts, m.lacking)
	}
	return strings.Join(parts, ", ")
}

// Addresses are the interfaces' addresses by name.
func (m *Manager) Addresses() map[string]netip.Addr {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]netip.Addr{}
	for _, s := range m.state {
		if s.config != nil {
			out[s.link.Name] = s.config.Address.Addr()
		}
	}
	return out
}

// Down takes all interfaces down, for an agent that must not be talked to.
func (m *Manager) Down() error {
	links, err := m.kernel.Links()
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.Physical {
			if err := m.kernel.Down(l); err != nil {
				return err
			}
		}
	}
	return nil
}
