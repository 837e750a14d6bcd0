// Package pxetest holds test helpers of the boot service: Leases in memory, a Booter that answers from a map and notes
// the stages, and functions that run a service, ask it for an address, and compare golden files.
//
// Only tests may import it.
package pxetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/ferrite-metal/ferrite/pxe"
)

// Leases is pxe.Leases in memory. The zero value is empty and ready.
type Leases struct {
	mu     sync.Mutex
	all    []pxe.Lease
	aside  []pxe.Decline
	writes int
}

// Leases lists all leases.
func (l *Leases) Leases(context.Context) ([]pxe.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all), nil
}

// SaveLease inserts or replaces the leases of those MACs, all or none; an address another has
// is an error, as is a lease in place of a reservation.
func (l *Leases) SaveLease(_ context.Context, leases ...pxe.Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, writes := slices.Clone(l.all), l.writes
	for _, n := range leases {
		if err := l.save(n); err != nil {
			l.all, l.writes = was, writes
			return err
		}
	}
	return nil
}

func (l *Leases) save(n pxe.Lease) error {
	for _, o := range l.all {
		if o.IP == n.IP && o.Subnet == n.Subnet && !bytes.Equal(o.MAC, n.MAC) {
			return fmt.Errorf("address %v is on record for %v already", n.IP, o.MAC)
		}
		if bytes.Equal(o.MAC, n.MAC) && o.Static && !n.Static {
			return fmt.Errorf("%v has %v reserved", o.MAC, o.IP)
		}
	}
	l.writes++
	l.remove(n.MAC)
	l.all = append(l.all, n)
	return nil
}

// EndLease deletes a lease that is on record as it was read.
func (l *Leases) EndLease(_ context.Context, n pxe.Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	l.all = slices.DeleteFunc(l.all, func(o pxe.Lease) bool {
		return bytes.Equal(o.MAC, n.MAC) && o.IP == n.IP && o.Subnet == n.Subnet && !o.Static &&
			!o.Expires.After(n.Expires)
	})
	return nil
}

// Declines lists the addresses that were declined.
func (l *Leases) Declines(context.Context) ([]pxe.Decline, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.aside), nil
}

// SaveDecline sets an address aside, and ends the machine's lease.
func (l *Leases) SaveDecline(_ context.Context, d pxe.Decline) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	l.all = slices.DeleteFunc(l.all, func(o pxe.Lease) bool {
		return bytes.Equal(o.MAC, d.MAC) && o.IP == d.IP && o.Subnet == d.Subnet && !o.Static
	})
	l.aside = append(l.aside, d)
	return nil
}

func (l *Leases) remove(mac net.HardwareAddr) {
	l.all = slices.DeleteFunc(l.all, func(o pxe.Lease) bool { return bytes.Equal(o.MAC, mac) })
}

// Writes is how often something was written.
func (l *Leases) Writes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// Booter answers from a map. The zero value ignores everybody.
type Booter struct {
	mu     sync.Mutex
	boots  map[string]pxe.Boot
	stages []Stage
}

// Stage is one call of Reached.
type Stage struct {
	Client pxe.Client
	Stage  pxe.Stage
}

// Set makes Boot answer b for mac.
func (b *Booter) Set(mac net.HardwareAddr, boot pxe.Boot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.boots == nil {
		b.boots = map[string]pxe.Boot{}
	}
	b.boots[mac.String()] = boot
}

// Boot returns the value Set for the client's MAC.
func (b *Booter) Boot(_ context.Context, c pxe.Client) (pxe.Boot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.boots[c.MAC.String()], nil
}

// Reached notes a stage.
func (b *Booter) Reached(_ context.Context, c pxe.Client, s pxe.Stage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stages = append(b.stages, Stage{c, s})
}

// Stages lists the reached stages in order.
func (b *Booter) Stages() []Stage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.stages)
}
