// Package sshconsoletest is an SSH server with a machine that echoes its input, for tests.
package sshconsoletest

import (
	"log/slog"
	"net"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
)

// Hello is the machine's text for each new watcher.
const Hello = "hello from the machine"

// Machine is a serial line that echoes its input.
type Machine struct {
	mu       sync.Mutex
	watchers map[int]func([]byte)
	next     int
	typed    string
}

// Watch implements sshconsole.Line.
func (m *Machine) Watch(see func([]byte)) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watchers == nil {
		m.watchers = map[int]func([]byte){}
	}
	id := m.next
	m.next++
	m.watchers[id] = see
	see([]byte(Hello + "\r\n"))
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, id)
	}
}

// Write implements sshconsole.Line.
func (m *Machine) Write(data []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.typed += string(data)
	for _, see := range m.watchers {
		see(data)
	}
	return len(data), nil
}

// Typed is all that was ever typed.
func (m *Machine) Typed() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.typed
}

// Board is a server on loopback, and the machine behind it.
type Board struct {
	*Machine
	*sshconsole.Server
	Address string
	stop    func()
}

// Start serves until the test ends or Stop is called. address is where; "" is any port of loopback.
func Start(t testing.TB, address string, c sshconsole.Config) *Board {
	t.Helper()
	b := &Board{Machine: &Machine{}}
	if c.Line == nil {
		c.Line = b.Machine
	}
	c.Log = slog.New(slog.DiscardHandler)
	var err error
	if b.Server, err = sshconsole.New(c); err != nil {
		t.Fatal(err)
	}
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	b.Address = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	b.stop = sync.OnceFunc(func() {
		l.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(b.stop)
	return b
}

// Stop ends the server, before the test does.
func (b *Board) Stop() { b.stop() }

// Port is the port of the address.
func (b *Board) Port(t testing.TB) int {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", b.Address)
	if err != nil {
		t.Fatal(err)
	}
	return a.Port
}
