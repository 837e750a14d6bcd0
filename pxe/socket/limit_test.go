package socket

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// patience is for what must happen.
const patience = 5 * time.Second

// limitedPair is a listener under Limit and the connections it has accepted.
func limitedPair(t *testing.T, total, each int) (net.Listener, <-chan net.Conn) {
	t.Helper()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Limit(inner, total, each)
	accepted := make(chan net.Conn, 100)
	done := make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				done <- err
				return
			}
			accepted <- c
		}
	}()
	t.Cleanup(func() {
		_ = l.Close() // seen below
		select {
		case err := <-done:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("Accept did not end with its listener")
		}
	})
	return l, accepted
}

func dial(t *testing.T, from string, l net.Listener) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.DialContext(context.WithoutCancel(t.Context()), "tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the test is over
	return c
}

func next(t *testing.T, accepted <-chan net.Conn) net.Conn {
	t.Helper()
	select {
	case c := <-accepted:
		t.Cleanup(func() { _ = c.Close() }) // the test is over
		return c
	case <-time.After(patience):
		t.Fatal("a connection was not accepted")
		return nil
	}
}

func TestLimitOfOneAddress(t *testing.T) {
	l, accepted := limitedPair(t, 10, 2)
	dial(t, "127.0.0.2", l)
	first := next(t, accepted)
	dial(t, "127.0.0.2", l)
	next(t, accepted)

	third := dial(t, "127.0.0.2", l)
	if err := third.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := third.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more than its share was not turned away: %v", err)
	}
	dial(t, "127.0.0.3", l)
	if got := peer(next(t, accepted)).String(); got != "127.0.0.3" {
		t.Errorf("accepted %s, want another address", got)
	}
	for range 2 { // a second Close gives nothing back
		_ = first.Close()
	}
	dial(t, "127.0.0.2", l)
	next(t, accepted)
	if n := len(l.(*limited).slots); n != 3 {
		t.Errorf("%d places are taken by three connections", n)
	}
}

// say has a peer send something, and its connection read it.
func say(t *testing.T, peer, c net.Conn) {
	t.Helper()
	if _, err := peer.Write([]byte("GET")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
}

func TestLimitInAll(t *testing.T) {
	l, accepted := limitedPair(t, 2, 2)
	second := dial(t, "127.0.0.2", l)
	first := next(t, accepted)
	say(t, second, first)
	third := dial(t, "127.0.0.3", l)
	say(t, third, next(t, accepted))
	dial(t, "127.0.0.4", l)
	if n := len(accepted); n != 0 {
		t.Errorf("%d connections too many", n)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := peer(next(t, accepted)).String(); got != "127.0.0.4" {
		t.Errorf("accepted %s, want the one that waited", got)
	}
}

// TestLimitMakesRoom: those who say nothing give way to others, and so do those
// who have had their answer; who has asked for something keeps his place.
func TestLimitMakesRoom(t *testing.T) {
	l, accepted := limitedPair(t, 2, 2)
	asking := dial(t, "127.0.0.2", l)
	asked := next(t, accepted)
	say(t, asking, asked)
	for i := range 20 {
		from := net.IPv4(127, 0, 1, byte(i+1)).String()
		dial(t, from, l) // and nothing more
		if got := peer(next(t, accepted)).String(); got != from {
			t.Fatalf("accepted %s, want %s", got, from)
		}
	}
	if _, err := asked.Write([]byte("OK")); err != nil {
		t.Fatalf("who asked lost his place: %v", err)
	}

	other := dial(t, "127.0.0.3", l)
	say(t, other, next(t, accepted))
	read := make(chan error, 1)
	go func() { _, err := asked.Read(make([]byte, 1)); read <- err }() // the next request, which does not come
	dial(t, "127.0.0.4", l)
	if got := peer(next(t, accepted)).String(); got != "127.0.0.4" {
		t.Errorf("accepted %s, want the newest", got)
	}
	select {
	case err := <-read:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("the one with its answer ended with %v", err)
		}
	case <-time.After(patience):
		t.Error("the one with its answer kept its place")
	}
}

// TestLimitKeepsSendfile: without io.ReaderFrom every ramdisk would be copied
// through this process.
func TestLimitKeepsSendfile(t *testing.T) {
	l, accepted := limitedPair(t, 1, 1)
	dial(t, "127.0.0.2", l)
	if c, ok := next(t, accepted).(io.ReaderFrom); !ok {
		t.Errorf("a %T takes no files", c)
	}
}
