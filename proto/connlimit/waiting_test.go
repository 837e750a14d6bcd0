package connlimit

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// from is a connection that comes from an address.
type from struct {
	net.Conn
	at net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.at }

// TestWaitingIsInNobodysWay: with all places in requests that none can end, connections that wait for one keep neither
// the loopback out nor those with few, and not too many wait.
func TestWaitingIsInNobodysWay(t *testing.T) {
	const total = 32
	inner := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	l := Limit(inner, total, 64)
	placed := make(chan net.Conn, total)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			ticketOf(c).begin() // busy
			placed <- c
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	dial := func(host string) net.Conn {
		client, server := net.Pipe()
		t.Cleanup(func() { _, _ = client.Close(), server.Close() })
		inner.conns <- from{server, &net.TCPAddr{IP: net.ParseIP(host), Port: 1}}
		return client
	}
	comes := func(host string, soon bool) {
		t.Helper()
		select {
		case c := <-placed:
			if got := peer(c.RemoteAddr().String()).String(); !soon || got != host {
				t.Fatalf("%s has a place, want %s soon: %t", got, host, soon)
			}
		case <-time.After(map[bool]time.Duration{true: patience, false: 30 * time.Millisecond}[soon]):
			if soon {
				t.Fatalf("%s has no place", host)
			}
		}
	}
	for i := range total - total/kept {
		dial("10.0.0.1")
		comes("10.0.0.1", i < total)
	}
	waits := dial("10.0.0.1")
	comes("10.0.0.1", false)
	for range total / kept { // which are kept for those with few
		dial("10.0.0.2")
		comes("10.0.0.2", true)
	}
	dial("10.0.0.3")
	comes("10.0.0.3", false)
	dial("127.0.0.1")
	comes("127.0.0.1", true)
	for i := range total/queued - 1 {
		dial(fmt.Sprintf("10.0.1.%d", i))
	}
	_ = waits.SetReadDeadline(time.Now().Add(patience))
	if _, err := waits.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("too many wait, and the one that has most places goes on: %v", err)
	}
}
