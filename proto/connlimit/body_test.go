package connlimit

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory, so that time can be a test's own.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// upload sends a body of length bytes, n of them at a time and then a pause, to a
// server that takes its own time for each request, and answers how it was read.
func upload(t *testing.T, length, n int, pause, own time.Duration) (took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		read := make(chan error, 1)
		srv := &http.Server{ReadTimeout: 2 * time.Minute,
			Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				time.Sleep(own)
				_, err := io.Copy(io.Discard, r.Body)
				_, _ = r.Body.Read(make([]byte, 1)) // some decoders look for the end twice
				time.Sleep(own)
				read <- errors.Join(err, r.Context().Err())
			})}
		Track(srv)
		go srv.Serve(Limit(l, 10, 10)) // ends with Close
		client, server := net.Pipe()
		defer func() {
			srv.Close()
			client.Close()
			time.Sleep(time.Hour) // of the test's: net/http lets a connection linger
		}()
		l.conns <- server
		began := time.Now()
		if _, err := fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", length); err != nil {
			t.Fatal(err)
		}
		go func() {
			chunk := strings.Repeat("x", n)
			for left := length; left > 0; left -= n {
				time.Sleep(pause)
				if _, err := io.WriteString(client, chunk[:min(n, left)]); err != nil {
					return // cut off: the test checks for that
				}
			}
			_, _ = io.Copy(io.Discard, client) // the answer
		}()
		err = <-read
		took = time.Since(began)
	})
	return took, err
}

// TestSlowBody: small bodies have ten seconds, long ones a least rate. The server's own
// delays are not the peer's fault.
func TestSlowBody(t *testing.T) {
	for name, s := range map[string]struct {
		length, n  int
		pause, own time.Duration
		most       time.Duration // it is cut off by then; 0: it gets through
	}{
		"small":                    {5000, 5000, 0, 0, 0},
		"small, in nine seconds":   {9000, 1000, time.Second, 0, 0},
		"small, never":             {5000, 1, time.Second, 0, 11 * time.Second},
		"small, one byte missing":  {5000, 4999, 6 * time.Second, 0, 11 * time.Second},
		"long, at a modest rate":   {16 << 20, 100 << 10, time.Second, 0, 0},
		"long, below any rate":     {16 << 20, 8 << 10, time.Second, 0, 15 * time.Second},
		"long, ends":               {16 << 20, 15 << 20, 20 * time.Minute, 0, 11 * time.Second},
		"server takes its time":    {5000, 1000, time.Second, 5 * time.Minute, 0},
		"long, server takes time":  {1 << 20, 100 << 10, time.Second, 5 * time.Minute, 0},
		"small, after a long time": {5000, 5000, 11 * time.Second, 0, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			took, err := upload(t, s.length, s.n, s.pause, s.own)
			var slow *SlowBodyError
			switch {
			case s.most == 0 && err != nil:
				t.Errorf("cut off after %v: %v", took, err)
			case s.most != 0 && !errors.As(err, &slow):
				t.Errorf("ended after %v with %v, want it cut off", took, err)
			case s.most != 0 && took > s.most:
				t.Errorf("cut off after %v, want at most %v", took, s.most)
			}
		})
	}
}
