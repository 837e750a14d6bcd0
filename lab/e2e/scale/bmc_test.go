//go:build e2e

package scale

import (
	"container/list"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// Where BMCs and agents are: each has an address of its own, and all share one listener.
const (
	bmcPort   = 8000
	agentPort = 9999

	bmcNet   = 16 // 127.16.0.0 and up
	agentNet = 64 // 127.64.0.0 and up
)

// address is the address of the nth BMC or agent.
func address(network byte, nth int) netip.Addr {
	a := [4]byte{127, network}
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+uint32(nth)) //nolint:gosec // below 2^22
	return netip.AddrFrom4(a)
}

// numberOf is address the other way round.
func numberOf(network byte, a netip.Addr) int {
	four := a.Unmap().As4()
	return int(binary.BigEndian.Uint32(four[:]) - binary.BigEndian.Uint32([]byte{127, network, 0, 0}))
}

func uuidOf(nth int) string { return fmt.Sprintf("5ca1e000-0000-4000-8000-%012x", nth) }

func macOf(nth int) string {
	return fmt.Sprintf("52:54:%02x:%02x:%02x:%02x", nth>>24&255, nth>>16&255, nth>>8&255, nth&255)
}

// warm is how many BMCs are kept with sessions and all; of the others only the machine is remembered. A BMC that was
// cold has forgotten its sessions, as real ones do after half an hour.
const warm = 4096

// bmcs are the BMCs of all machines.
type bmcs struct {
	on     bool // machines are on at first
	pushed func(nth int, on bool)
	asked  atomic.Int64

	mu       sync.Mutex
	machines map[int]*machine
	servers  map[int]*list.Element // of the queue
	queue    *list.List            // of warm ones, the last used first
}

// warmBMC is an element of the queue.
type warmBMC struct {
	nth    int
	server *redfish.Server
}

// machine reports each push of its buttons.
type machine struct {
	*redfishtest.Machine
	nth    int
	pushed func(nth int, on bool)
}

// Reset presses a button.
func (m *machine) Reset(ctx context.Context, kind qemu.ResetType) error {
	err := m.Machine.Reset(ctx, kind)
	if err == nil && m.pushed != nil {
		m.pushed(m.nth, m.Power() == qemu.On)
	}
	return err
}

// newBMCs serves BMCs until the test ends. pushed is called when a machine's button was pressed; it may be nil.
func newBMCs(t *testing.T, on bool, pushed func(nth int, on bool)) *bmcs {
	t.Helper()
	b := &bmcs{on: on, pushed: pushed, machines: map[int]*machine{}, servers: map[int]*list.Element{}, queue: list.New()}
	serveAll(t, bmcPort, b)
	return b
}

// serveAll serves all addresses of the loopback at one port.
func serveAll(t *testing.T, port int, h http.Handler) {
	t.Helper()
	listener, err := net.Listen("tcp4", fmt.Sprintf("0.0.0.0:%d", port)) //nolint:gosec // a network of its own
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)} // of clients that hang up
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

// calledAt is the address that a request was sent to.
func calledAt(r *http.Request) netip.Addr {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return local.AddrPort().Addr()
}

// ServeHTTP answers as the BMC that was called.
func (b *bmcs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.asked.Add(1)
	b.server(numberOf(bmcNet, calledAt(r))).ServeHTTP(w, r)
}

func (b *bmcs) server(nth int) *redfish.Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.servers[nth]; e != nil {
		b.queue.MoveToFront(e)
		return e.Value.(*warmBMC).server //nolint:forcetypeassert // the queue has no other
	}
	s := redfish.New(redfish.Config{Machine: b.machine(nth), Username: redfishtest.User, Password: redfishtest.Password,
		Log: slog.New(slog.DiscardHandler)})
	b.servers[nth] = b.queue.PushFront(&warmBMC{nth, s})
	if b.queue.Len() > warm {
		last := b.queue.Remove(b.queue.Back()).(*warmBMC) //nolint:forcetypeassert // the queue has no other
		delete(b.servers, last.nth)
		go func() { _ = last.server.Close() }() // it has nothing under way
	}
	return s
}

// machine is the nth machine. b.mu is held.
func (b *bmcs) machine(nth int) *machine {
	m := b.machines[nth]
	if m == nil {
		m = &machine{Machine: redfishtest.NewMachineOf(uuidOf(nth)), nth: nth, pushed: b.pushed}
		if b.on {
			_ = m.Machine.Reset(context.Background(), qemu.ResetOn) // it never fails
		}
		b.machines[nth] = m
	}
	return m
}
