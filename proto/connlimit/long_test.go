package connlimit

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestLongAnswer: a request without a body is whole, however long its answer goes
// on: a watch outlasts the time that requests have to come in. The peer that
// leaves ends it all the same, and the next request on the connection has its time.
func TestLongAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lasts = 30 * time.Minute
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		ended := make(chan error, 2)
		srv := &http.Server{ReadTimeout: 2 * time.Minute,
			Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-time.After(lasts):
				}
				ended <- r.Context().Err()
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
		ask := func() {
			if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		answer, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("answer %v, %v", answer, err)
		}
		if err := <-ended; err != nil {
			t.Errorf("a request is ended amid its answer: %v", err)
		}
		began := time.Now()
		ask()
		time.Sleep(time.Minute)
		client.Close()
		if err := <-ended; err == nil || time.Since(began) > 2*time.Minute {
			t.Errorf("the peer left after a minute, the request ends after %v with %v", time.Since(began), err)
		}
	})
}
