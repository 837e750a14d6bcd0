package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// connect sends something to a server from an address, and keeps the connection.
func connect(t *testing.T, url, from, text string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(context.WithoutCancel(t.Context()), "tcp4", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the test is over
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// keepAlive opens a connection to the API, and leaves it open after one answer.
func keepAlive(t *testing.T, c *conductor, from string) (status int, err error) {
	t.Helper()
	_, status, err = answered(t, c, from)
	return status, err
}

// answered is keepAlive with the connection.
func answered(t *testing.T, c *conductor, from string) (conn net.Conn, status int, err error) {
	t.Helper()
	conn = connect(t, c.URL, from, "GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return conn, 0, err
	}
	return conn, res.StatusCode, res.Body.Close()
}

// TestConnectionsAreBounded: one address cannot take all the connections; one more
// than its share costs it one of its own.
func TestConnectionsAreBounded(t *testing.T) {
	c := start(t, t.TempDir())
	defer c.End(t)
	http.DefaultClient.CloseIdleConnections()
	closed := make(chan struct{}, maxEach+1)
	var conns []net.Conn
	for n := range maxEach + 1 {
		conn, status, err := answered(t, c, "127.0.0.2")
		if status != http.StatusOK {
			t.Fatalf("connection %d: %d, %v", n+1, status, err)
		}
		conns = append(conns, conn)
	}
	for _, conn := range conns { // which of them has waited longest the server alone knows
		go func() {
			if _, err := conn.Read(make([]byte, 1)); errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
				closed <- struct{}{}
			}
		}()
	}
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Errorf("of one more connections than %d none was closed", maxEach)
	}
	if status, err := keepAlive(t, c, "127.0.0.3"); status != http.StatusOK {
		t.Errorf("another address: %d, %v", status, err)
	}
	if n := len(closed); n > 0 {
		t.Errorf("%d more connections were closed", n)
	}
}

// TestSlowBodiesShutNobodyOut: with all connections in requests that withhold their bodies, operators, agents and the
// loopback are answered at once.
func TestSlowBodiesShutNobodyOut(t *testing.T) {
	c := start(t, t.TempDir())
	defer c.End(t)
	http.DefaultClient.CloseIdleConnections()
	var slow []net.Conn
	for i := range maxConnections {
		slow = append(slow,
			connect(t, c.URL, fmt.Sprintf("127.0.2.%d", i/maxEach+1),
				"POST /v1/heartbeat/u HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{"))
	}
	began := time.Now()
	for i := range 50 { // operators with one connection each, or idle ones
		if status, err := keepAlive(t, c, fmt.Sprintf("127.0.3.%d", i%25+1)); status != http.StatusOK {
			t.Fatalf("operator %d: %d, %v", i, status, err)
		}
	}
	for i := range 10 { // agents with wrong calls, which still get an answer
		conn := connect(t, c.URL, fmt.Sprintf("127.0.4.%d", i+1),
			"POST /v1/heartbeat/u HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusNotFound {
			t.Fatalf("agent %d: %v, %v", i, res, err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("60 answers took %v", took)
	}
	for _, conn := range slow {
		_ = conn.Close() // the conductor's end would wait for them
	}
}

func TestLogWithoutCredentials(t *testing.T) {
	var b strings.Builder
	log, err := logger("info", "text", &b)
	if err != nil {
		t.Fatal(err)
	}
	log.Warn("fetch http://u:hunter2@h", "url", "http://u:hunter2@h/i", "err",
		errors.New("GET http://h/i?sig=hunter2: EOF"), "count", 3)
	if got := b.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "count=3") ||
		strings.Count(got, "******") != 3 {
		t.Error(got)
	}
}
