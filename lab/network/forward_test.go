package network

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"
)

// patience is the time that a test waits for an event, on a busy machine.
const patience = time.Minute

// echo sends the bytes of every connection back, after its end of stream.
func echo(t *testing.T) net.Listener {
	l := listen(t)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				all, err := io.ReadAll(c)
				if err == nil {
					_, err = c.Write(all)
				}
				if err != nil && !errors.Is(err, net.ErrClosed) {
					t.Logf("echo: %v", err)
				}
			}()
		}
	}()
	return l
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func forwardTo(t *testing.T, address string) *Forwarder {
	t.Helper()
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	}
	f := newForwarder(listen(t), dial, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { f.Close() })
	return f
}

func TestForwarderCarriesHalfClose(t *testing.T) {
	f := forwardTo(t, echo(t).Addr().String())
	c, err := net.Dial("tcp", f.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("one way")); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(c)
	if err != nil || string(got) != "one way" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestForwarderWithoutFarEndHangsUp(t *testing.T) {
	gone := listen(t)
	gone.Close()
	f := forwardTo(t, gone.Addr().String())
	c, err := net.Dial("tcp", f.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("connection left open")
	}
}

func TestForwarderCloseCutsConnections(t *testing.T) {
	f := forwardTo(t, echo(t).Addr().String())
	c, err := net.Dial("tcp", f.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- f.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("Close does not return while a connection is open")
	}
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}
