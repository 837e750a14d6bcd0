package connlimit

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// FuzzServe: for any bytes over a connection, in two pieces, its place is given back when it ends, and a body is read
// as net/http reads it.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01", ""} {
		f.Add([]byte(seed), 20)
	}
	f.Fuzz(func(t *testing.T, sent []byte, cut int) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		srv := &http.Server{ReadTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		})}
		Track(srv)
		limited := Limit(l, 10, 10).(*limited) //nolint:forcetypeassert // its own
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = srv.Serve(limited)
		}()
		client, server := net.Pipe()
		l.conns <- server
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			_, _ = io.Copy(io.Discard, client)
		}()
		cut = min(max(cut, 0), len(sent))
		for _, piece := range [][]byte{sent[:cut], sent[cut:]} {
			_, _ = client.Write(piece)
		}
		_ = client.Close()
		<-answered
		_ = srv.Close()
		<-served
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
			limited.pool.mu.Lock()
			held := len(limited.pool.held) + len(limited.pool.hosts) + len(limited.pool.networks) + limited.pool.refusals
			limited.pool.mu.Unlock()
			if held == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%q: %d places are not given back", sent, held)
			}
		}
	})
}
